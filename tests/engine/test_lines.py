"""Where everything acts: the four lines by window, version, mode and path."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.lines import LineName, Lines, lines_of
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.rule_sets import RULE_SETS
from tests.engine.policies import policies

LATEST, MIDDLE, FIRST = "openclaw-2026.5.28", "openclaw-2026.4.20", "openclaw-2026.3"


def lines(rules: str = LATEST, around: dict[str, Any] | None = None, **changes: Any) -> Lines:
    """Lines of the defaults with changes by key (``__`` for a dot, ``c__`` for ``compaction.``)."""
    keys = {
        key.replace("c__", "compaction.", 1).replace("__", "."): value
        for key, value in changes.items()
    }
    circumstances = Circumstances(
        provider="mock", model="m", rules=RULE_SETS[rules], **(around or {})
    )
    return lines_of(with_changes(Policy(), keys), circumstances)


def figures(found: Lines) -> tuple[int, ...]:
    return tuple(line.tokens for line in found.lines)


# window: (window, flush, preflight, pre-prompt, inner threshold) with nothing else configured
DEFAULTS = {
    32_000: (32_000, 8_000, 8_000, 12_000, 12_000),
    96_000: (96_000, 72_000, 72_000, 76_000, 76_000),
    128_000: (128_000, 104_000, 104_000, 108_000, 108_000),
    200_000: (200_000, 176_000, 176_000, 180_000, 180_000),
    1_000_000: (1_000_000, 976_000, 976_000, 980_000, 980_000),
}


@pytest.mark.parametrize("rules", [LATEST, MIDDLE])
@pytest.mark.parametrize("window", DEFAULTS)
def test_lines_of_the_defaults(rules: str, window: int) -> None:
    assert figures(lines(rules, contextWindow=window)) == DEFAULTS[window]


@pytest.mark.parametrize("rules", [LATEST, MIDDLE])
@pytest.mark.parametrize(("window", "inner"), [(16_000, -384), (16_384, 0)])
def test_in_a_small_window_half_stays_for_the_prompt_but_the_runtime_reserve_holds(
    rules: str, window: int, inner: int
) -> None:
    # The floor shrinks to window - 8000; the configured 16384 does not (spec budgets 3).
    found = lines(rules, contextWindow=window)
    assert figures(found) == (window, 0, 0, 8_000, inner)
    assert not found.named("flush").active
    assert found.named("flush").reason == "window_too_small_for_flush"


@pytest.mark.parametrize("window", DEFAULTS)
def test_the_first_version_has_a_flush_and_an_inner_threshold_only(window: int) -> None:
    found = lines(FIRST, contextWindow=window)
    assert found.named("flush").tokens == window - 24_000
    assert found.named("inner_threshold").tokens == window - 20_000
    assert [line.name for line in found.lines if line.active] == [
        "window", "flush", "inner_threshold",
    ]  # fmt: skip
    assert found.named("preflight").reason == "version_has_no_preflight"
    assert found.named("pre_prompt").reason == "version_has_no_precheck"


@pytest.mark.parametrize(("window", "inner"), [(16_000, -4_000), (16_384, -3_616)])
def test_the_first_version_does_not_protect_small_windows(window: int, inner: int) -> None:
    assert lines(FIRST, contextWindow=window).named("inner_threshold").tokens == inner


def test_the_middle_version_never_judges_a_total_that_was_reported() -> None:
    assert lines(MIDDLE, contextWindow=96_000).named("preflight").reason == "total_is_known"
    assert lines(LATEST, contextWindow=96_000).named("preflight").active


@pytest.mark.parametrize(
    ("provider_window", "override", "flush", "run"),
    [
        (96_000, None, 96_000, 96_000),
        (96_000, 64_000, 64_000, 64_000),
        (64_000, 96_000, 96_000, 64_000),  # an override lifts the gates above the run (runs 2)
        (96_000, 96_000, 96_000, 96_000),
        (32_000, 128_000, 128_000, 32_000),
        (None, 64_000, 64_000, 64_000),
        (None, None, 200_000, 200_000),
    ],
)
def test_the_two_windows(provider_window: Any, override: Any, flush: int, run: int) -> None:
    found = lines(contextWindow=provider_window, contextTokens=override)
    assert (found.flush_window.tokens, found.run_window.tokens) == (flush, run)
    assert found.named("flush").tokens == flush - 24_000
    assert found.named("pre_prompt").tokens == found.named("inner_threshold").tokens == run - 20_000


def test_the_order_in_which_settings_were_made_does_not_matter() -> None:
    changes = {
        "contextWindow": 96_000, "contextTokens": 64_000, "compaction.reserveTokensFloor": 9_000,
    }  # fmt: skip
    seen = set()
    for keys in permutations(changes):
        policy = Policy()
        for key in keys:
            policy = with_changes(policy, {key: changes[key]})
        seen.add(figures(lines_of(policy, Circumstances(provider="mock", model="m"))))
    assert seen == {(64_000, 51_000, 51_000, 47_616, 47_616)}


def test_a_window_of_the_file_that_the_policy_clears_is_gone() -> None:
    config = {"agents": {"defaults": {"contextTokens": 20_000}}}
    around = Circumstances(provider="mock", model="m", config=config)
    found = lines_of(replace(Policy(), context_window=96_000), around)
    assert (found.flush_window.tokens, found.run_window.tokens) == (96_000, 96_000)


@pytest.mark.parametrize("reserve", [0, 16_384, 40_000])
def test_safeguard_mode_checks_with_the_runtimes_own_reserve(reserve: int) -> None:
    found = lines(contextWindow=64_000, c__mode="safeguard", c__reserveTokens=reserve)
    assert found.named("pre_prompt").tokens == 64_000 - 16_384
    assert not found.named("inner_threshold").active
    assert found.named("inner_threshold").reason == "safeguard_mode"


def test_safeguard_mode_at_32000_leaves_15616_as_recorded() -> None:
    assert lines(contextWindow=32_000, c__mode="safeguard").named("pre_prompt").tokens == 15_616


def test_safeguard_mode_of_earlier_versions_keeps_the_inner_threshold() -> None:
    found = lines(MIDDLE, contextWindow=64_000, c__mode="safeguard", c__reserveTokens=40_000)
    assert found.named("inner_threshold").active
    assert found.named("pre_prompt").tokens == 24_000


def test_a_summarising_provider_means_safeguard_mode() -> None:
    assert lines(contextWindow=64_000, c__provider="plugin").mode == "safeguard"


@pytest.mark.parametrize("path", ["agent", "local"])
def test_only_the_chat_path_runs_preflight_and_flush(path: str) -> None:
    found = lines(around={"path": path}, contextWindow=32_000)
    active = [line.name for line in found.lines if line.active]
    assert active == ["window", "pre_prompt", "inner_threshold"]
    assert found.named("flush").reason == found.named("preflight").reason == "path_runs_no_gates"


def test_a_command_line_backend_runs_nothing() -> None:
    found = lines(around={"path": "cli"}, contextWindow=32_000)
    assert [line.name for line in found.lines if line.active] == ["window"]
    assert {line.reason for line in found.lines[1:]} == {"cli_backend"}


def test_a_flush_that_is_off_leaves_preflight() -> None:
    found = lines(contextWindow=32_000, c__memoryFlush__enabled=False)
    assert found.named("flush").reason == "memory_flush_disabled"
    assert found.named("preflight").active
    assert found.flush_plan is None


def test_a_context_engine_that_compacts_switches_the_inner_threshold_off() -> None:
    found = lines(around={"owns_compaction": True}, contextWindow=96_000)
    assert found.named("inner_threshold").reason == "context_engine_owns_compaction"


def test_every_line_tells_its_arithmetic_and_unit() -> None:
    found = lines(contextWindow=96_000)
    units = {line.name: line.unit for line in found.lines}
    assert units == {
        "window": "tokens",
        "flush": "billed prompt tokens",
        "preflight": "billed prompt tokens",
        "pre_prompt": "estimated tokens",
        "inner_threshold": "billed total tokens",
    }
    for line in found.lines[1:]:
        assert line.steps[-1].value == line.tokens


RULES = st.sampled_from(sorted(RULE_SETS))
WINDOWS = st.integers(1, 1_100_000)


@given(RULES, WINDOWS, st.integers(0, 50_000), policies())
def test_a_larger_window_never_lowers_a_line(
    rules: str, window: int, more: int, policy: Policy
) -> None:
    around = Circumstances(provider="mock", model="m", rules=RULE_SETS[rules])
    small, large = (
        lines_of(replace(policy, context_window=w), around) for w in (window, window + more)
    )
    for before, after in zip(small.lines, large.lines, strict=True):
        assert after.tokens >= before.tokens


@given(
    RULES,
    WINDOWS,
    policies(),
    st.sampled_from(["reserve_tokens", "reserve_tokens_floor", "soft_threshold_tokens"]),
    st.integers(1, 50_000),
)
def test_a_larger_reserve_or_soft_threshold_never_lifts_a_line(
    rules: str, window: int, policy: Policy, name: str, more: int
) -> None:
    around = Circumstances(provider="mock", model="m", rules=RULE_SETS[rules])
    policy = replace(policy, context_window=window)
    raised = replace(policy, **{name: getattr(policy, name) + more})
    for before, after in zip(
        lines_of(policy, around).lines, lines_of(raised, around).lines, strict=True
    ):
        assert after.tokens <= before.tokens


@given(RULES, WINDOWS, policies(), st.sampled_from(PATHS))
def test_an_active_line_has_the_reason_active_and_another_one_has_not(
    rules: str, window: int, policy: Policy, path: Any
) -> None:
    around = Circumstances(path=path, provider="mock", model="m", rules=RULE_SETS[rules])
    for line in lines_of(replace(policy, context_window=window), around).lines:
        assert (line.reason == "active") == line.active


@given(RULES, WINDOWS, policies())
def test_lines_are_named_once_each(rules: str, window: int, policy: Policy) -> None:
    around = Circumstances(provider="mock", model="m", rules=RULE_SETS[rules])
    names: list[LineName] = [line.name for line in lines_of(policy, around).lines]
    assert names == ["window", "flush", "preflight", "pre_prompt", "inner_threshold"]
