"""The guard against windows that are too small."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.window_guard import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    GuardedWindow,
    GuardVerdict,
    guard_messages,
    guard_thresholds,
    guard_window,
)

WINDOWS = st.integers(1, 10**7)


def judge(tokens: float, reference: float | None = None, **given: float) -> GuardVerdict:
    window = GuardedWindow(tokens, "model", reference)
    return guard_window(OPENCLAW_2026_5_28, "rules", window, **given)


@pytest.mark.parametrize(
    ("tokens", "hard", "warn"),
    [
        (None, 4_000, 8_000),
        (math.nan, 4_000, 8_000),
        (-5, 4_000, 8_000),
        (40_000, 4_000, 8_000),
        (40_010, 4_001, 8_002),
        (40_009, 4_000, 8_001),
        (2_000_000, 200_000, 400_000),
    ],
)
def test_the_lines_are_a_tenth_and_a_fifth_with_a_minimum(
    tokens: object, hard: int, warn: int
) -> None:
    lines = guard_thresholds(tokens)
    assert (lines.hard, lines.warn) == (hard, warn)


@given(WINDOWS)
def test_an_uncapped_window_is_judged_by_the_fixed_minimum_alone(tokens: int) -> None:
    verdict = judge(tokens)
    assert verdict.should_block == (tokens < 4_000)
    assert verdict.should_warn == (tokens < 8_000)


@given(st.integers(4_000, 10**7), WINDOWS)
def test_a_capped_window_of_4000_or_more_is_never_blocked(tokens: int, reference: int) -> None:
    assert not judge(tokens, reference).should_block


@given(WINDOWS, WINDOWS, WINDOWS)
def test_a_larger_window_is_never_judged_worse(reference: int, first: int, second: int) -> None:
    small, large = sorted((first, second))
    assert judge(small, reference).should_block or not judge(large, reference).should_block
    assert judge(small, reference).should_warn or not judge(large, reference).should_warn


def test_the_warning_line_is_taken_from_the_uncapped_window() -> None:
    assert judge(25_599, 128_000).should_warn
    assert not judge(25_600, 128_000).should_warn


@pytest.mark.parametrize("tokens", [0, -5, 0.9, math.nan])
def test_an_unknown_window_warns_and_blocks_now(tokens: float) -> None:
    verdict = judge(tokens)
    assert verdict.should_warn and verdict.should_block and verdict.tokens == 0
    assert verdict.decision.reason == "window_unknown"


def test_given_thresholds_are_rounded_down_and_at_least_one() -> None:
    verdict = judge(5_000, hard=5_000.9, warn=0)
    assert (verdict.thresholds.hard, verdict.thresholds.warn) == (5_000, 1)
    assert not verdict.should_warn and not verdict.should_block
    assert judge(5_000, hard=5_001).should_block
    assert judge(5_000, hard=-3).thresholds.hard == 1


@pytest.mark.parametrize(
    ("tokens", "warns", "blocks"),
    [
        (0, False, False),
        (1, True, True),
        (15_999.9, True, True),
        (16_000, True, False),
        (31_999, True, False),
        (32_000, False, False),
        (math.nan, False, False),
    ],
)
def test_early_lines_were_fixed_and_an_unknown_window_passed(
    tokens: float, warns: bool, blocks: bool
) -> None:
    window = GuardedWindow(tokens, "agentContextTokens", 10**7)
    verdict = guard_window(OPENCLAW_2026_4_20, "rules", window)
    assert (verdict.should_warn, verdict.should_block) == (warns, blocks)


def test_the_decision_explains_itself_also_when_nothing_is_wrong() -> None:
    outcomes = [judge(tokens).decision for tokens in (3_999, 4_000, 8_000)]
    assert [d.outcome for d in outcomes] == ["block", "warn", "pass"]
    assert [d.fired for d in outcomes] == [True, True, False]
    assert [step.value for step in outcomes[2].steps] == [8_000, 4_000]


@pytest.mark.parametrize(
    ("source", "warn", "block"),
    [
        ("agentContextTokens", "so raise that cap if", "Raise that cap."),
        ("modelsConfig", "raise contextWindow/contextTokens if", "or choose a larger model."),
        ("default", "run best", "run best"),
    ],
)
def test_a_local_endpoint_gets_advice_by_source(source: str, warn: str, block: str) -> None:
    verdict = judge(3_000)
    plain = guard_messages(verdict, "p", "m", source, "https://example.com")
    local = guard_messages(verdict, "p", "m", source, "http://localhost")
    assert plain.warn == f"low context window: p/m ctx=3000 (warn<8000) source={source}"
    assert plain.block == (
        f"Model context window too small (3000 tokens; source={source}). Minimum is 4000."
    )
    assert local.warn.startswith(f"{plain.warn}; ") and local.block.startswith(f"{plain.block} ")
    assert warn.replace("run best", "work best at 8000+ tokens and may") in local.warn
    assert block.replace("run best", "work best at 8000+ tokens.") in local.block
    assert local.likely_self_hosted and not plain.likely_self_hosted
