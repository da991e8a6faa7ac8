"""How much the tool results of a history can be cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.recovery import (
    AGGREGATE,
    OVERSIZED,
    plan_reduction,
    reduction_decision,
    truncate_for_prompt,
    truncate_tool_results,
)
from compaction_app.engine.pruning.recovery_rules import (
    RECOVERY_2026_3,
    RECOVERY_2026_4_20,
    RECOVERY_2026_5_28,
    RecoveryRules,
)
from compaction_app.engine.pruning.truncate import tool_result_text_chars
from tests.engine.pruning.messages import conversations, result, text_of, unchanged, user

ALL = [RECOVERY_2026_3, RECOVERY_2026_4_20, RECOVERY_2026_5_28]


def _chars(messages: Sequence[Any], rules: RecoveryRules) -> int:
    return sum(tool_result_text_chars(message, rules.truncation) for message in messages)


def _three(*lengths: int) -> list[dict[str, Any]]:
    return [user(), *(result(letter * n) for letter, n in zip("abc", lengths, strict=True))]


@pytest.mark.parametrize("rules", ALL)
@given(messages=conversations, window=st.integers(100, 30_000), cap=st.integers(1, 3000))
def test_what_the_plan_promises_is_what_cutting_saves(
    rules: RecoveryRules, messages: list[dict[str, Any]], window: int, cap: int
) -> None:
    before = unchanged(messages)
    plan = plan_reduction(messages, window, rules, single_cap_chars=cap)
    cut = truncate_tool_results(messages, window, rules, single_cap_chars=cap)
    assert messages == before
    saved = _chars(messages, rules) - _chars(cut.messages, rules)
    assert saved == plan.max_reducible_chars == sum(made.removed_chars for made in cut.changes)
    changed = {made.position for made in cut.changes}
    assert all(
        a is b or i in changed for i, (a, b) in enumerate(zip(messages, cut.messages, strict=True))
    )
    assert cut.truncated_count == len(changed)
    assert (cut.messages is messages) == (not changed)


def test_the_current_version_cuts_the_oldest_first() -> None:
    cut = truncate_tool_results(
        _three(900, 900, 900), 50_000, RECOVERY_2026_5_28, single_cap_chars=2000
    )
    assert [(made.position, made.rule) for made in cut.changes] == [(1, AGGREGATE)]
    assert _chars(cut.messages, RECOVERY_2026_5_28) == 2000


def test_2026_4_20_cuts_the_newest_first() -> None:
    cut = truncate_tool_results(
        _three(900, 900, 900), 50_000, RECOVERY_2026_4_20, single_cap_chars=2000
    )
    assert [made.position for made in cut.changes] == [3]


def test_2026_3_has_no_aggregate_budget() -> None:
    plan = plan_reduction(_three(900, 900, 900), 50_000, RECOVERY_2026_3, single_cap_chars=2000)
    assert not plan.likely_oversized


def test_the_copy_for_a_prompt_may_hold_four_caps() -> None:
    fits = [*_three(900, 900, 900), result("d" * 1300)]
    assert truncate_for_prompt(fits, 50_000, RECOVERY_2026_5_28, 1000).truncated_count == 1
    over = [*_three(900, 900, 900), result("d" * 1000), result("e" * 400)]
    (made,) = truncate_for_prompt(over, 50_000, RECOVERY_2026_5_28, 1000).changes
    assert made.position == 1 and made.removed_chars == 100
    assert truncate_for_prompt(over, 50_000, RECOVERY_2026_4_20, 1000).messages is over


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ((10, 10, 10), "within_caps"),
        ((900, 900, 900), "over_aggregate_budget"),
        ((3000, 1, 1), "over_single_cap"),
    ],
)
def test_recovery_says_whether_it_tries(lengths: tuple[int, int, int], reason: str) -> None:
    plan = plan_reduction(_three(*lengths), 50_000, RECOVERY_2026_5_28, single_cap_chars=2000)
    decision = reduction_decision(plan, "x")
    assert decision.reason == reason and decision.fired == plan.likely_oversized
    assert decision.steps[-1].value == plan.max_reducible_chars


def test_an_oversized_result_is_cut_before_the_budget_is_looked_at() -> None:
    plan = plan_reduction(_three(5000, 10, 10), 50_000, RECOVERY_2026_5_28, single_cap_chars=1000)
    assert [made.rule for made in plan.changes] == [OVERSIZED, AGGREGATE]
    assert plan.oversized_reducible_chars == 4000 and plan.aggregate_reducible_chars == 20


def test_a_result_cut_to_the_least_ends_in_half_a_notice() -> None:
    cut = truncate_tool_results(
        _three(900, 900, 900), 50_000, RECOVERY_2026_5_28, single_cap_chars=950
    )
    assert text_of(cut.messages[1]) == (
        "[... 900 more characters truncated; rerun with narrower args if neede"
    )


def test_a_single_result_has_no_budget_to_share() -> None:
    plan = plan_reduction([result("a" * 500)], 50_000, RECOVERY_2026_5_28, aggregate_cap_chars=10)
    assert plan.max_reducible_chars == 0
