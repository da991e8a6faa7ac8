"""Reserve and kept tail."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.budget import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_5_28,
    AppliedSettings,
    CompactionSettings,
    apply_settings,
    min_prompt_budget,
    runtime_settings,
)

WINDOWS = st.integers(1, 10**7)
TOKENS = st.integers(0, 10**6)


def config(**compaction: Any) -> dict[str, Any]:
    return {"agents": {"defaults": {"compaction": compaction}}}


def apply(
    window: object = None,
    current: CompactionSettings | None = None,
    rules: Any = OPENCLAW_2026_5_28,
    **compaction: Any,
) -> AppliedSettings:
    return apply_settings(rules, "rules", config(**compaction), window, current)


def reserve(window: object = None, **compaction: Any) -> float:
    return apply(window, **compaction).settings.reserve_tokens


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (None, 20_000),
        (0, 20_000),
        (-5, 20_000),
        (math.nan, 20_000),
        (math.inf, 20_000),
        ("16000", 20_000),
        (1, 16_384),
        (16_000, 16_384),
        (24_384, 16_384),
        (24_385, 16_385),
        (24_385.5, 16_385.5),
        (27_999, 19_999),
        (28_000, 20_000),
    ],
)
def test_a_small_window_lowers_the_floor_but_never_the_current_reserve(
    window: object, expected: float
) -> None:
    assert reserve(window) == expected


def test_a_configured_reserve_is_never_capped() -> None:
    assert reserve(16_000, reserveTokens=40_000) == 40_000


@given(WINDOWS, TOKENS, TOKENS)
def test_the_floor_is_met_wherever_the_window_leaves_room(
    window: int, floor: int, own: int
) -> None:
    room = max(0, window - min_prompt_budget(window))
    assert reserve(window, reserveTokens=own, reserveTokensFloor=floor) == max(
        own, min(floor, room)
    )


@given(WINDOWS, TOKENS, TOKENS, TOKENS)
def test_a_higher_setting_never_lowers_the_reserve(
    window: int, own: int, low: int, add: int
) -> None:
    before = reserve(window, reserveTokens=own, reserveTokensFloor=low)
    assert reserve(window, reserveTokens=own, reserveTokensFloor=low + add) >= before
    assert reserve(window, reserveTokens=own + add, reserveTokensFloor=low) >= before


@given(WINDOWS, WINDOWS)
def test_a_larger_window_never_lowers_the_reserve(first: int, second: int) -> None:
    small, large = sorted((first, second))
    assert reserve(small) <= reserve(large)


def test_the_earliest_rules_do_not_look_at_the_window() -> None:
    assert apply(4_000, rules=OPENCLAW_2026_3).settings.reserve_tokens == 20_000


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "5", None, True])
def test_what_is_no_finite_number_from_zero_up_is_not_configured(bad: object) -> None:
    assert reserve(reserveTokens=bad, reserveTokensFloor=bad) == 20_000


def test_values_are_rounded_down_and_zero_is_a_value() -> None:
    assert reserve(reserveTokens=1_000.9, reserveTokensFloor=500.9) == 1_000
    assert reserve(reserveTokens=0, reserveTokensFloor=0) == 0
    assert reserve(reserveTokensFloor=0) == 16_384


@pytest.mark.parametrize(("given", "kept"), [(0, 20_000), (-1, 20_000), (0.5, 0), (9.9, 9)])
def test_a_kept_tail_must_be_positive_before_it_is_rounded(given: float, kept: int) -> None:
    assert apply(keepRecentTokens=given).settings.keep_recent_tokens == kept


def test_only_what_changes_is_an_override() -> None:
    found = apply(current=CompactionSettings(reserve_tokens=20_000), keepRecentTokens=20_000)
    assert not found.did_override and found.decision.reason == "settings_unchanged"
    found = apply(keepRecentTokens=5, reserveTokensFloor=0)
    assert found.did_override and (found.reserve_override, found.keep_override) == (None, 5)
    assert found.decision.reason == "keep_recent_configured"
    found = apply(current=CompactionSettings(reserve_tokens=30_000), reserveTokens=16_384)
    assert (found.settings.reserve_tokens, found.reserve_override) == (20_000, 20_000)
    assert found.decision.reason == "reserve_raised_to_floor"
    assert apply(reserveTokens=40_000).decision.reason == "reserve_configured"


def test_the_decision_shows_the_floor_before_and_after_the_window() -> None:
    steps = apply(24_385).decision.steps
    assert [step.value for step in steps] == [20_000, 16_385, 16_385, 20_000]


def test_the_runtime_has_settings_of_its_own() -> None:
    assert runtime_settings({}) == CompactionSettings(True, 16_384, 20_000)
    given = {"compaction": {"enabled": False, "reserveTokens": 0, "keepRecentTokens": None}}
    assert runtime_settings(given) == CompactionSettings(False, 0, 20_000)


@given(st.floats(min_value=0.001, max_value=1e9))
def test_the_prompt_keeps_half_a_window_but_not_more_than_8000_tokens(window: float) -> None:
    assert min_prompt_budget(window) == min(8_000, max(1, math.floor(window * 0.5)))
