"""The chain of sources for a model's window."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.window import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    WindowRequest,
    model_ref,
    resolve_window,
)

RULES = OPENCLAW_2026_5_28


def providers(**entries: Any) -> dict[str, Any]:
    return {"models": {"providers": entries}}


def listed(window: object, **fields: Any) -> dict[str, Any]:
    return {"models": [{"id": "m", "contextWindow": window}], **fields}


def tokens(
    request: WindowRequest, cache: dict[str, float] | None = None, rules: Any = RULES
) -> Any:
    return resolve_window(rules, cache or {}, request).tokens


def test_the_trace_names_every_source_asked_and_what_it_said() -> None:
    request = WindowRequest(providers(x=listed(0)), "m", "x", override=-1, fallback=9)
    found = resolve_window(RULES, {"m": 7}, request)
    assert (found.tokens, found.source) == (7, "cache[m]")
    assert [(s.source, s.said, s.verdict) for s in found.trace] == [
        ("contextTokensOverride", -1, "ignored"),
        ("anthropic1m", None, "silent"),
        ("models.providers.x.models[m]", 0, "ignored"),
        ("models.providers.x", None, "silent"),
        ("cache[x/m]", None, "silent"),
        ("cache[m]", 7, "wins"),
    ]
    decision = found.decision("rules", "flush")
    assert decision.fired and decision.outcome == "cache[m]"
    assert [step.value for step in decision.steps] == [-1, None, 0, None, None, 7]


def test_a_window_nobody_knows_is_unknown_and_not_zero() -> None:
    found = resolve_window(RULES, {}, WindowRequest({}, "m", "x"))
    assert (found.tokens, found.source) == (None, None)
    decision = found.decision("rules", "status")
    assert not decision.fired and decision.reason == "window_not_known"


@given(st.floats(min_value=0, exclude_min=True))
def test_a_positive_override_passes_through_as_it_is(override: float) -> None:
    assert tokens(WindowRequest({}, "m", "x", override=override)) == override


@pytest.mark.parametrize("override", [0, -5, math.nan, "5", True, None])
def test_other_overrides_are_ignored(override: object) -> None:
    assert tokens(WindowRequest({}, "m", "x", override=override, fallback=3)) == 3


def test_an_own_window_beats_the_provider_and_the_provider_answers_for_unlisted_models() -> None:
    config = providers(x=listed(100.5, contextWindow=50, contextTokens=40))
    assert tokens(WindowRequest(config, "m", " X ")) == 100.5
    assert tokens(WindowRequest(config, "other", "x")) == 40
    assert tokens(WindowRequest(config, "M", "x")) == 40


def test_entries_that_mean_the_same_provider_are_asked_in_turn() -> None:
    config = providers(**{" X ": listed(0), "x": listed(70)})
    assert tokens(WindowRequest(config, "m", "x")) == 70


def test_without_an_explicit_provider_the_configuration_is_not_scanned() -> None:
    config = providers(x=listed(100))
    for provider in (None, "", "  "):
        assert tokens(WindowRequest(config, "x/m", provider, fallback=1)) == 1


def test_the_qualified_key_comes_before_the_bare_one_only_with_a_provider() -> None:
    cache = {"x/m": 1, "m": 2, "X/m": 3}
    assert tokens(WindowRequest({}, "m", "x"), cache) == 1
    assert tokens(WindowRequest({}, "m"), cache) == 2
    assert tokens(WindowRequest({}, "X/m"), cache) == 3
    assert tokens(WindowRequest({}, "X/m", "  "), cache) == 1


def test_a_model_with_a_slash_has_no_qualified_key() -> None:
    assert tokens(WindowRequest({}, "a/b", "o"), {"o/a/b": 1}) is None
    assert tokens(WindowRequest({}, "o/a/b"), {"o/a/b": 1}) == 1


def test_the_bare_key_is_the_model_untrimmed_the_qualified_one_trimmed() -> None:
    request = WindowRequest({}, " m ", "o")
    assert tokens(request, {"m": 1}) is None
    assert tokens(request, {"o/m": 2, " m ": 3}) == 2
    assert tokens(request, {" m ": 3}) == 3


@pytest.mark.parametrize(
    ("provider", "model", "ref"),
    [
        (" P ", " m ", ("p", "m")),
        (None, " P / m ", ("p", "m")),
        ("  ", "p/a/b", ("p", "a/b")),
        ("p", "a/b", ("p", "a/b")),
    ],
)
def test_a_reference_is_given_or_split_from_the_model(
    provider: str | None, model: str, ref: tuple[str, str]
) -> None:
    found = model_ref(RULES, provider, model)
    assert found is not None and (found.provider, found.model) == ref


@pytest.mark.parametrize(
    ("provider", "model"),
    [(None, "m"), (None, "/m"), (None, "p/"), (None, " / "), ("p", " "), ("p", None)],
)
def test_half_a_reference_is_none(provider: str | None, model: str | None) -> None:
    assert model_ref(RULES, provider, model) is None


def test_a_million_needs_an_explicit_provider_and_then_beats_the_configuration() -> None:
    config = providers(anthropic={"models": [{"id": "claude-opus-4-6", "contextWindow": 5}]})
    assert tokens(WindowRequest(config, "claude-opus-4-6", "anthropic")) == 1_048_576
    assert tokens(WindowRequest(config, "anthropic/claude-opus-4-6", fallback=1)) == 1


def test_early_rules_took_the_million_from_a_reference_of_any_kind() -> None:
    config = {
        "agents": {
            "defaults": {
                "models": {"anthropic/claude-sonnet-4": {"params": {"context1m": True}}},
                "contextTokens": 5,
            }
        }
    }
    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20):
        assert (
            tokens(WindowRequest(config, "claude-sonnet-4", "anthropic"), rules=rules) == 1_048_576
        )
        assert tokens(WindowRequest(config, "anthropic/claude-sonnet-4"), rules=rules) == 1_048_576


def test_provider_names_were_folded_before_and_are_not_now() -> None:
    config = providers(zai=listed(100))
    request = WindowRequest(config, "m", "Z.AI")
    assert tokens(request, rules=OPENCLAW_2026_4_20) == 100
    assert tokens(request, rules=OPENCLAW_2026_3) == 100
    assert tokens(request) is None
    assert tokens(request, {"zai/m": 3}) is None
    assert tokens(WindowRequest({}, "m", "z-ai"), {"zai/m": 3}, OPENCLAW_2026_4_20) == 3
    assert tokens(WindowRequest({}, "z.ai/m"), {"zai/m": 3}, OPENCLAW_2026_3) == 3


def test_an_entry_under_the_very_name_comes_before_one_under_an_alias() -> None:
    config = providers(**{"zai": listed(1), "z.ai": listed(2)})
    assert tokens(WindowRequest(config, "m", "z.ai"), rules=OPENCLAW_2026_3) == 2


def test_the_earliest_rules_read_the_window_alone() -> None:
    config = providers(x={"models": [{"id": "m", "contextTokens": 5, "contextWindow": 9}]})
    request = WindowRequest(config, "m", "x")
    assert tokens(request, rules=OPENCLAW_2026_3) == 9
    assert tokens(request, rules=OPENCLAW_2026_4_20) == 5
    assert tokens(request) == 5


@pytest.mark.parametrize("config", [None, [], {"models": 5}, providers(x=None), providers(x={})])
def test_malformed_configurations_say_nothing(config: object) -> None:
    assert tokens(WindowRequest(config, "m", "x", fallback=4)) == 4
