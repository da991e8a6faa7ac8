"""The map from models to windows."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.window_cache import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    apply_configured,
    apply_discovered,
    build_cache,
)

RULES = OPENCLAW_2026_5_28


def listing(*models: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"providers": {"p": {"models": list(models), **fields}}}


def test_a_configured_value_overwrites_a_smaller_one() -> None:
    config = listing({"id": "m", "contextWindow": 99})
    assert apply_configured(RULES, {"m": 10, "k": 1}, config) == {"m": 99, "k": 1}


def test_the_last_provider_in_key_order_wins_for_a_shared_id() -> None:
    entry = {"models": [{"id": "m", "contextWindow": 10}]}
    other = {"models": [{"id": "m", "contextWindow": 20}]}
    assert apply_configured(RULES, {}, {"providers": {"z": entry, "7": other}}) == {"m": 10}


@pytest.mark.parametrize(
    ("rules", "tokens"),
    [(OPENCLAW_2026_5_28, 5), (OPENCLAW_2026_4_20, None), (OPENCLAW_2026_3, None)],
)
def test_only_the_newest_rules_fall_back_on_the_provider(rules: Any, tokens: int | None) -> None:
    config = listing({"id": "m"}, contextTokens=5, contextWindow=9)
    assert apply_configured(rules, {}, config).get("m") == tokens


@pytest.mark.parametrize("blocking", [0, -1, math.nan])
def test_a_useless_number_hides_the_fields_after_it(blocking: float) -> None:
    config = listing({"id": "m", "contextTokens": blocking, "contextWindow": 7}, contextWindow=8)
    assert apply_configured(RULES, {}, config) == {}


@pytest.mark.parametrize("silent", ["9", None, True])
def test_what_is_no_number_hides_nothing(silent: object) -> None:
    config = listing({"id": "m", "contextTokens": silent, "contextWindow": 7.5})
    assert apply_configured(RULES, {}, config) == {"m": 7.5}


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {"providers": []},
        {"providers": {"p": None}},
        {"providers": {"p": {"models": {"id": "m"}, "contextWindow": 5}}},
        listing({"id": ""}, {"id": 7}, {}, contextWindow=5),
        {"providers": {"p": {"models": [None, "m"], "contextWindow": 5}}},
    ],
)
def test_malformed_configurations_store_nothing(config: object) -> None:
    assert apply_configured(RULES, {}, config) == {}


def test_any_positive_number_is_stored_as_it_is() -> None:
    assert apply_configured(RULES, {}, listing({"id": "m", "contextWindow": 0.5})) == {"m": 0.5}


def test_early_rules_read_the_window_alone() -> None:
    config = listing({"id": "m", "contextTokens": 5, "contextWindow": 9})
    assert apply_configured(OPENCLAW_2026_3, {}, config) == {"m": 9}
    assert apply_configured(OPENCLAW_2026_4_20, {}, config) == {"m": 5}
    models = config["providers"]["p"]["models"]
    assert apply_discovered(OPENCLAW_2026_3, {}, models) == {"m": 9}
    assert apply_discovered(OPENCLAW_2026_4_20, {}, models) == {"m": 5}


@given(st.integers(1, 100), st.integers(1, 100))
def test_a_discovered_value_only_ever_lowers(known: int, reported: int) -> None:
    cache = apply_discovered(RULES, {"m": known}, [{"id": "m", "contextWindow": reported}])
    assert cache == {"m": min(known, reported)}


def test_discovered_values_are_truncated_and_must_stay_positive() -> None:
    models = [
        {"id": "a", "contextWindow": 1000.9},
        {"id": "b", "contextWindow": 0.9},
        {"id": "c", "contextTokens": math.nan, "contextWindow": 5},
        {"id": "", "contextWindow": 5},
        None,
    ]
    assert apply_discovered(RULES, {}, models) == {"a": 1000}


def test_a_lifted_model_gets_a_million_unless_less_is_known() -> None:
    model = {"id": "claude-opus-4-6", "provider": "anthropic", "contextWindow": 0}
    assert apply_discovered(RULES, {}, [model]) == {"claude-opus-4-6": 1_048_576}
    assert apply_discovered(RULES, {"claude-opus-4-6": 5}, [model]) == {"claude-opus-4-6": 5}


def test_after_a_full_load_the_configuration_has_the_last_word() -> None:
    config = listing({"id": "m", "contextWindow": 500})
    discovered = [{"id": "m", "contextWindow": 100}, {"id": "n", "contextWindow": 7}]
    assert build_cache(RULES, config, discovered) == {"m": 500, "n": 7}


def test_the_map_given_is_left_alone() -> None:
    cache = {"m": 9}
    apply_configured(RULES, cache, listing({"id": "m", "contextWindow": 1}))
    apply_discovered(RULES, cache, [{"id": "m", "contextWindow": 1}])
    assert cache == {"m": 9}
