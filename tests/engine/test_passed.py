"""What a recording went through stops no what-if under the same settings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import lines_of
from compaction_app.engine.passed import passed_by
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import Script, chat

AROUND = Circumstances()
WINDOW = replace(Policy(), context_window=96_000)


def tiny(calls: int, billed: int = 70_000) -> Timeline:
    """A short conversation that was billed much: a large system prompt and many tools."""
    script = Script()
    for number in range(calls):
        script.user(80).answer(80, billed + 40 * number)
    return script.grown()


def own(grown: Timeline, policy: Policy = WINDOW, *, same_rules: bool = True) -> Replay:
    passed = passed_by(grown, lines_of(WINDOW, AROUND), AROUND.rules, same_rules=same_rules)
    return replay(grown, policy, AROUND, passed=passed)


@pytest.mark.parametrize("calls", [1, 3, 12])
def test_a_short_conversation_that_was_billed_much_is_not_blocked(calls: int) -> None:
    grown = tiny(calls)
    assert replay(grown, WINDOW, AROUND).totals.blocked == calls, (
        "without what the recording passed"
    )
    done = own(grown)
    assert (done.totals.blocked, done.totals.compactions) == (0, 0)
    assert done.prompt.tolist() == grown.billed_prompt.tolist()


def test_of_another_agent_s_few_bills_nothing_is_taken_for_a_system_prompt() -> None:
    assert own(tiny(3), same_rules=False).totals.blocked == 0


def test_a_prompt_that_the_provider_answered_is_not_refused_under_the_same_window() -> None:
    grown = tiny(1, 130_000)
    assert own(grown).totals.blocked == 0
    narrower = replace(WINDOW, context_window=90_000)
    assert own(grown, narrower).totals.blocked > 0, "another window is another question"


def test_a_system_prompt_that_fits_is_counted_whole() -> None:
    grown = chat(12, overhead=9_000).grown()
    passed = passed_by(grown, lines_of(WINDOW, AROUND), AROUND.rules, same_rules=True)
    assert passed.system is not None and passed.system > 9_000


def test_what_was_said_leaves_less_room_for_the_system_prompt() -> None:
    lines = lines_of(WINDOW, AROUND)
    rooms = [
        passed_by(chat(turns).grown(), lines, AROUND.rules, same_rules=True).system
        for turns in (2, 20, 60)
    ]
    assert all(room is not None for room in rooms)
    assert rooms == sorted(rooms, key=lambda room: -(room or 0)) and len(set(rooms)) == 3


@pytest.mark.parametrize("name", RULE_SETS)
def test_rules_that_count_no_system_prompt_need_no_bound(name: str) -> None:
    rules = RULE_SETS[name]
    lines = lines_of(WINDOW, replace(AROUND, rules=rules))
    passed = passed_by(tiny(3), lines, rules, same_rules=True)
    counts = rules.routing is not None and rules.routing.weighs_shape
    assert (passed.system is not None) == (counts and lines.named("pre_prompt").active)


def test_a_session_without_calls_passed_nothing() -> None:
    grown = Script().user().grown()
    passed = passed_by(grown, lines_of(WINDOW, AROUND), AROUND.rules, same_rules=True)
    assert (passed.system, passed.prompt) == (None, 0)
