"""Does the context of the next model call fit, and what is cut so that it does?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.guard import (
    OVERFLOW_TEXT,
    MidTurnCheck,
    guard_context,
    guard_limits,
    guard_window,
)
from compaction_app.engine.routing import MID_TURN_OVERFLOW_TEXT
from compaction_app.engine.rule_sets import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    RULE_SETS,
    RuleSet,
)
from sessions_app.tokens.loop_chars import loop_message_chars
from tests.engine.pruning.messages import calls, conversations, result, unchanged, user

THROWING = [OPENCLAW_2026_4_20, OPENCLAW_2026_5_28]


def total(messages: Any, rules: RuleSet) -> int:
    return sum(loop_message_chars(m, rules.pruning.guard.cut.chars) for m in messages)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.id)
@given(messages=conversations, window=st.integers(1, 4000))
def test_what_is_given_stays_and_what_did_not_change_is_the_same_object(
    rules: RuleSet, messages: list[dict[str, Any]], window: int
) -> None:
    before = unchanged(messages)
    done = guard_context(messages, window, rules)
    assert messages == before
    changed = {made.position for made in done.changes}
    assert changed == set(done.new_forms)
    assert all(
        a is b or i in changed for i, (a, b) in enumerate(zip(messages, done.messages, strict=True))
    )
    assert (done.messages is messages) == (not changed)


@pytest.mark.parametrize("rules", THROWING, ids=lambda rules: rules.id)
@given(messages=conversations, window=st.integers(1, 4000))
def test_later_versions_send_nothing_over_the_limit(
    rules: RuleSet, messages: list[dict[str, Any]], window: int
) -> None:
    done = guard_context(messages, window, rules)
    limit = guard_limits(window, rules.pruning.guard).total_chars
    assert (done.error == OVERFLOW_TEXT) == (total(done.messages, rules) > limit)
    assert (done.decision.outcome == "overflow") == (done.error is not None)


@given(messages=conversations, window=st.integers(1, 4000))
def test_2026_3_never_fails_and_gives_up_old_results_first(
    messages: list[dict[str, Any]], window: int
) -> None:
    done = guard_context(messages, window, OPENCLAW_2026_3)
    assert done.error is None
    compacted = [c.position for c in done.changes if c.rule == "compact_old_tool_results"]
    assert compacted == sorted(compacted, key=int)


@pytest.mark.parametrize(
    ("rules", "single", "whole"),
    [(OPENCLAW_2026_3, 8000, 24_000), (OPENCLAW_2026_5_28, 8000, 28_800)],
)
def test_limits_are_shares_of_the_window(rules: RuleSet, single: int, whole: int) -> None:
    limits = guard_limits(8000.9, rules.pruning.guard)
    assert (limits.single_chars, limits.total_chars) == (single, whole)
    assert guard_limits(0, rules.pruning.guard).single_chars == 1024


def test_the_guarded_window_is_the_run_s_or_the_model_s() -> None:
    current, early = (rules.pruning.guard for rules in (OPENCLAW_2026_5_28, OPENCLAW_2026_3))
    assert guard_window(64_000.5, 200_000, None, current) == 64_000
    assert guard_window(64_000, None, 8000, early) == 8000
    assert guard_window(None, None, None, current) == 200_000
    assert guard_window(0, None, None, current) == 1


def test_the_decision_tells_why() -> None:
    fits = guard_context([user()], 8000, OPENCLAW_2026_5_28).decision
    assert (fits.fired, fits.outcome, fits.reason) == (False, "pass", "within_limits")
    cut = guard_context([result("a" * 5000)], 8000, OPENCLAW_2026_5_28).decision
    assert (cut.fired, cut.outcome, cut.reason) == (True, "cut", "single_result_over_limit")
    full = guard_context([user("a" * 40_000)], 8000, OPENCLAW_2026_5_28).decision
    assert (full.outcome, full.reason) == ("overflow", "context_over_limit")
    assert {step.name: step.value for step in full.steps}["totalLimit"] == 28_800


def test_in_place_the_message_objects_change_where_the_version_does_so() -> None:
    for rules, sticks in ((OPENCLAW_2026_3, True), (OPENCLAW_2026_5_28, False)):
        messages = [user(), result("a" * 9000)]
        done = guard_context(messages, 8000, rules, in_place=True)
        assert (done.messages is messages) == sticks
        assert (messages[1] == result("a" * 9000)) != sticks


def test_the_transform_before_it_runs_first_unless_it_answers_no_list() -> None:
    messages = [user("x" * 40_000), user()]
    done = guard_context(messages, 8000, OPENCLAW_2026_5_28, previous=lambda given: given[1:])
    assert done.messages == [user()] and done.error is None
    ignored = guard_context(messages, 8000, OPENCLAW_2026_5_28, previous=lambda given: None)
    assert ignored.error == OVERFLOW_TEXT


def test_new_results_are_routed_before_the_turn_goes_on() -> None:
    check = MidTurnCheck(context_tokens=16_000, reserve_tokens=4000, fence=1)
    turn = [user(), calls("a"), result("a" * 26_000, "a")]
    done = guard_context(turn, 160_000, OPENCLAW_2026_5_28, mid_turn=check)
    assert done.error == MID_TURN_OVERFLOW_TEXT and done.decision.reason == "mid_turn_overflow"
    assert done.mid_turn is not None and done.mid_turn.route != "fits"
    assert done.fence == 1
    assert guard_context(turn, 160_000, OPENCLAW_2026_4_20, mid_turn=check).error is None


def test_results_before_the_fence_are_not_routed() -> None:
    turn = [user(), calls("a"), result("a" * 26_000, "a")]
    for fence in (None, 3, 99):
        check = MidTurnCheck(context_tokens=16_000, reserve_tokens=4000, fence=fence)
        done = guard_context(turn, 160_000, OPENCLAW_2026_5_28, mid_turn=check)
        assert done.error is None and done.fence == 3
