"""At which calls the guard acts, counted from arrays, is what the guard does with the messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.guarded_calls import guarded_calls
from compaction_app.engine.policy import Policy
from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.pruning.guard import guard_context, guard_limits
from compaction_app.engine.replay import replay
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28
from tests.engine.pruning.messages import answer, result, user
from tests.engine.timelines import timed

WINDOW = 64_000


def conversation(sizes: list[int]) -> list[Any]:
    """Turns with a result of these sizes; all lengths are multiples of four, so estimates are exact."""
    written: list[Any] = []
    for size in sizes:
        written += [user("u" * 400), result("r" * size * 4)]
        written += [answer({"type": "text", "text": "a" * 400})]
    return written


def counted(sizes: list[int], rules: Any) -> Any:
    grown = timed(*((n * 2, message) for n, message in enumerate(conversation(sizes))))
    policy = Policy(context_window=10_000_000)
    done = replay(grown, policy, Circumstances(rules=rules))
    guard = rules.pruning.guard
    return guarded_calls(grown, done, guard_limits(WINDOW, guard), guard)


@given(
    sizes=st.lists(st.integers(1, 12_000), min_size=1, max_size=12),
    single=st.sampled_from([0.1, 0.5, 0.8]),
    headroom=st.sampled_from([0.2, 0.5, 0.9]),
)
def test_counts_are_those_of_the_guard_over_the_messages(
    sizes: list[int], single: float, headroom: float
) -> None:
    rules = with_constants(
        OPENCLAW_2026_5_28, ExperimentalConstants(single_share=single, headroom_share=headroom)
    )
    messages = conversation(sizes)
    calls = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    guarded = [guard_context(messages[:place], WINDOW, rules) for place in calls]
    done = counted(sizes, rules)
    assert done.cut == sum(bool(each.changes) for each in guarded)
    assert done.over == sum(each.error is not None for each in guarded)


def test_less_headroom_stops_calls_earlier() -> None:
    tight = with_constants(OPENCLAW_2026_5_28, ExperimentalConstants(headroom_share=0.5))
    own, tried = (counted([2_000] * 15, rules) for rules in (OPENCLAW_2026_5_28, tight))
    assert own.over < tried.over and own.first_over > tried.first_over > 0
    assert own.largest == tried.largest


def test_2026_3_cuts_the_text_to_the_whole_limit_so_a_cut_result_weighs_twice() -> None:
    share = ExperimentalConstants(single_share=0.2)
    for rules, weight in ((OPENCLAW_2026_3, 51_200), (OPENCLAW_2026_5_28, 25_600)):
        assert counted([12_000], with_constants(rules, share)).largest == weight + 400


@pytest.mark.parametrize("rules", [OPENCLAW_2026_3, OPENCLAW_2026_5_28])
def test_compactions_of_the_what_if_shorten_the_contexts(rules: Any) -> None:
    grown = timed(*((n * 2, m) for n, m in enumerate(conversation([3_000] * 20))))
    guard = rules.pruning.guard
    roomy, tight = (
        guarded_calls(
            grown,
            replay(grown, Policy(context_window=window), Circumstances(rules=rules)),
            guard_limits(WINDOW, guard),
            guard,
        )
        for window in (10_000_000, 30_000)
    )
    assert tight.largest < roomy.largest
