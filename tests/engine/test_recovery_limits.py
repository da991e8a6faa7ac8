"""The limits of a run's recovery."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.manual_compaction import manual_budget, refusal
from compaction_app.engine.recovery_limits import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    OverflowSituation,
    RecoveryCounters,
    max_iterations,
    overflow_token_count,
    recover_from_overflow,
    recover_from_timeout,
    timed_out_in_compaction,
    timeout_action,
)
from compaction_app.engine.reset_hint import hinted_window, suggested_reserve_floor


def config(defaults: dict[str, Any], **agent: Any) -> dict[str, Any]:
    return {"agents": {"defaults": defaults, "list": [None, {"id": "Main Agent", **agent}]}}


@pytest.mark.parametrize(("profiles", "attempts"), [(-1, 32), (0, 32), (1, 32), (2, 40), (50, 160)])
def test_attempts_grow_with_the_profiles_between_two_bounds(profiles: int, attempts: int) -> None:
    assert max_iterations(OPENCLAW_2026_5_28, {}, profiles) == attempts


def test_an_agents_limits_stand_over_the_defaults_key_by_key() -> None:
    given = config({"runRetries": {"base": 100, "min": 5}}, runRetries={"perProfile": 1})
    assert max_iterations(OPENCLAW_2026_5_28, given, 3, "main agent") == 103
    assert max_iterations(OPENCLAW_2026_5_28, given, 3, "other") == 124
    assert max_iterations(OPENCLAW_2026_5_28, given, 3) == 124
    assert max_iterations(OPENCLAW_2026_4_20, given, 3, "main agent") == 48


def test_the_upper_bound_is_raised_to_the_lower_one() -> None:
    given = config({"runRetries": {"max": 10}})
    assert max_iterations(OPENCLAW_2026_5_28, given, 1) == 32


@given(st.integers(0, 200), st.integers(0, 200))
def test_another_profile_never_takes_attempts_away(profiles: int, more: int) -> None:
    few = max_iterations(OPENCLAW_2026_5_28, {}, profiles)
    assert max_iterations(OPENCLAW_2026_5_28, {}, profiles + more) >= few


@pytest.mark.parametrize(
    ("counters", "situation", "step"),
    [
        ({}, {}, ("compact", "overflow_compaction")),
        ({"overflow_compactions": 2}, {}, ("compact", "overflow_compaction")),
        ({"overflow_compactions": 3}, {}, ("give_up", "context_overflow")),
        ({}, {"attempt_compacted": True}, ("retry", "attempt_already_compacted")),
        (
            {"overflow_compactions": 3},
            {"attempt_compacted": True},
            ("give_up", "context_overflow"),
        ),
        ({}, {"compaction_failed": True}, ("give_up", "compaction_failure")),
        (
            {},
            {"compaction_failed": True, "results_over_limits": True},
            ("truncate", "tool_results_over_limits"),
        ),
        (
            {"truncations": 1},
            {"compaction_tried": True, "results_over_limits": True},
            ("give_up", "context_overflow"),
        ),
        (
            {},
            {"compaction_tried": True, "no_real_conversation": True},
            ("retry", "token_count_reset"),
        ),
        ({}, {"compaction_tried": True}, ("give_up", "context_overflow")),
    ],
)
def test_an_overflow_is_met_step_by_step(
    counters: dict[str, int], situation: dict[str, bool], step: tuple[str, str]
) -> None:
    found = recover_from_overflow(
        "rules", RecoveryCounters(**counters), OverflowSituation(**situation)
    )
    assert (found.outcome, found.reason) == step
    assert found.fired == (found.outcome != "give_up")


def test_an_overflow_nobody_counted_is_one_token_too_large() -> None:
    assert overflow_token_count(None, 32_000) == 32_001
    assert overflow_token_count(40_000, 32_000) == 40_000


def test_a_timeout_is_recovered_above_65_percent_and_twice_at_most() -> None:
    def reason(tokens: float, window: float = 1_000, spent: int = 0, **given: Any) -> str:
        counters = RecoveryCounters(timeout_compactions=spent)
        rules = given.pop("rules", OPENCLAW_2026_5_28)
        return recover_from_timeout(rules, "rules", counters, tokens, window, **given).reason

    assert reason(651) == "prompt_fills_window"
    assert reason(650) == "prompt_below_ratio"
    assert reason(651, window=0) == "prompt_below_ratio"
    assert reason(651, spent=1) == "prompt_fills_window"
    assert reason(651, spent=2) == "timeout_compactions_spent"
    assert reason(651, during_compaction_or_tool=True) == "timed_out_in_compaction_or_tool"
    assert reason(651, rules=OPENCLAW_2026_3) == "timeout_compactions_spent"


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("in_flight", [False, True])
def test_a_working_compaction_extends_the_time_once(pending: bool, in_flight: bool) -> None:
    busy = pending or in_flight
    assert timed_out_in_compaction(True, pending, in_flight) is busy
    assert not timed_out_in_compaction(False, pending, in_flight)
    assert timeout_action(pending, in_flight, False) == ("extend" if busy else "abort")
    assert timeout_action(pending, in_flight, True) == "abort"


@pytest.mark.parametrize(
    ("window", "floor"),
    [
        (None, 20_000),
        (float("nan"), 20_000),
        (99_999, 20_000),
        (100_000, 35_000),
        (199_999, 35_000),
        (200_000, 50_000),
        (999_999, 50_000),
        (1_000_000, 100_000),
    ],
)
def test_a_larger_window_is_told_a_larger_floor(window: float | None, floor: int) -> None:
    assert suggested_reserve_floor(window) == floor


def test_the_hint_is_capped_by_the_agents_own_tokens_or_the_general_ones() -> None:
    given = config({"contextTokens": 100}, contextTokens=50)
    assert hinted_window(given, "main-agent", 70) == 50
    assert hinted_window(given, "main-agent", 30) == 30
    assert hinted_window(given, "other", 200) == 100
    assert hinted_window(config({}), None, 200) == 200
    assert hinted_window(given, None, None) is None


def test_a_manual_compaction_takes_the_least_window_known() -> None:
    assert manual_budget(9.9, 7.9, 5) == 7
    assert manual_budget(None, 7.9, 5) == 7
    assert manual_budget(9.9, None, 5) == 9
    assert manual_budget(None, None, 5.5) == 5.5
    assert manual_budget(None, None, None) is None


def test_a_refusal_tells_a_compacted_session_from_a_small_one() -> None:
    assert refusal({"type": "compaction"}) == "Already compacted"
    assert refusal({"type": "message"}).startswith("Nothing to compact")
    assert refusal(None).startswith("Nothing to compact")
