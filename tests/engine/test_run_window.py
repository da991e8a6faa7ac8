"""The window of a run."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.run_window import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    RunWindowRules,
    model_window,
    resolve_run_window,
)

RULES = OPENCLAW_2026_5_28


def config(cap: object = None, **providers: Any) -> dict[str, Any]:
    return {
        "models": {"providers": providers},
        "agents": {"defaults": {"contextTokens": cap}},
    }


def listed(**fields: Any) -> dict[str, Any]:
    return {"models": [{"id": "m", **fields}]}


def resolve(
    given: dict[str, Any],
    rules: RunWindowRules = RULES,
    provider: str = "x",
    default: object = 200_000,
    **model: Any,
) -> Any:
    return resolve_run_window(rules, given, provider, "m", model, default)


def test_configuration_then_model_then_default() -> None:
    own = config(x=listed(contextWindow=32_768))
    assert resolve(own, contextWindow=9_000).source == "modelsConfig"
    assert resolve(config(), contextWindow=9_000).source == "model"
    assert resolve(config(), contextWindow=9_000, contextTokens=5_000.9).tokens == 5_000
    assert resolve(config()).source == "default"


@pytest.mark.parametrize("bad", [0, -1, 0.9, math.nan, math.inf, "9", None])
def test_values_that_are_no_whole_number_above_zero_are_passed_over(bad: object) -> None:
    own = config(x=listed(contextTokens=bad, contextWindow=bad))
    assert resolve(own, contextTokens=bad, contextWindow=7_000).tokens == 7_000
    assert resolve(own, default=bad).tokens == 8_000


def test_only_the_first_entry_of_the_provider_is_looked_at() -> None:
    own = config(**{" X ": listed(), "x": listed(contextWindow=9_000)})
    assert resolve(own).source == "default"


def test_a_provider_level_window_does_not_count() -> None:
    assert resolve(config(x={"contextWindow": 5_000, "models": []})).source == "default"


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_the_cap_lowers_and_names_the_window_it_capped(cap: int, window: int) -> None:
    found = resolve(config(cap), contextWindow=window)
    assert found.tokens == min(cap, window)
    assert (found.source == "agentContextTokens") == (cap < window)
    assert found.reference_tokens == (window if cap < window else None)
    assert found.trace[-1].verdict == ("caps" if cap < window else "does_not_cap")


@pytest.mark.parametrize("cap", [0, -1, 0.5, "64000", math.nan, None])
def test_a_cap_that_is_no_whole_number_above_zero_is_none(cap: object) -> None:
    assert resolve(config(cap), contextWindow=9_000).tokens == 9_000


def test_early_rules_did_not_name_the_uncapped_window() -> None:
    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20):
        found = resolve(config(5_000), rules, contextWindow=9_000)
        assert (found.tokens, found.reference_tokens) == (5_000, None)


def test_early_rules_took_a_default_as_it_was() -> None:
    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20):
        assert resolve(config(), rules, default=0.5).tokens == 0
        assert math.isnan(resolve(config(), rules, default=None).tokens)


def test_the_earliest_rules_want_the_very_key_and_the_window_alone() -> None:
    own = config(x=listed(contextTokens=5_000, contextWindow=9_000))
    assert resolve(own, OPENCLAW_2026_3).tokens == 9_000
    assert resolve(own, OPENCLAW_2026_3, provider="X").source == "default"
    assert resolve(own, OPENCLAW_2026_4_20, provider="X").tokens == 5_000
    assert resolve(config(), OPENCLAW_2026_3, contextTokens=5_000).source == "default"


def test_provider_keys_were_folded_in_between() -> None:
    own = config(zai=listed(contextWindow=9_000))
    assert resolve(own, OPENCLAW_2026_4_20, provider="z.ai").tokens == 9_000
    assert resolve(own, provider="z.ai").source == "default"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ({}, 200_000),
        ({"contextTokens": 0, "contextWindow": 9}, 1),
        ({"contextTokens": None, "contextWindow": 9.9}, 9),
        ({"contextTokens": -5}, 1),
    ],
)
def test_summarising_assumes_at_least_one_token(model: dict[str, Any], tokens: int) -> None:
    assert model_window(model) == tokens
