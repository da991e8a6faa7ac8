"""The what-if of sessions whose provider reports no usage, held against turns on their messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import replay
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.simulation.driver import SUMMARY_CHARS
from compaction_app.engine.simulation.inputs import (
    Asked,
    SessionFiles,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.summary_sizes import SummaryChoice
from sessions_app.importers import read_transcript
from tests.engine.builders import Script, grown_from
from tests.engine.test_replay_flush_turns import file_of

SIZE = SummaryChoice(tokens=SUMMARY_CHARS // 4)
TURNS = 60


def unbilled(turns: int = TURNS, chars: int = 2_000) -> Script:
    script = Script()
    for _ in range(turns):
        script.user(400).answer(chars)
    return script


def by_numbers(rules: RuleSet, window: int) -> list[tuple[int, str]]:
    policy = replace(Policy(), context_window=window)
    around = Circumstances(provider="mock", model="m", rules=rules)
    done = replay(grown_from(file_of(unbilled())), policy, around, choice=SIZE)
    return [(event.turn, event.kind) for event in done.events if event.kind != "guard"]


def on_messages(rules: RuleSet, window: int) -> list[tuple[int, str]]:
    read = read_transcript([file_of(unbilled())])
    files = SessionFiles((read,), {}, {"modelProvider": "mock", "model": "m"})
    done = what_if(simulation_inputs(files, Asked(rules, changes={"contextWindow": window})))
    return [
        (turn.recorded.number, event.kind)
        for turn in done
        for event in turn.result.events
        if event.kind != "guard"
    ]


@pytest.mark.parametrize("window", [48_000, 200_000])
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: str(rules.id))
def test_the_same_fires_in_the_same_turns(rules: RuleSet, window: int) -> None:
    assert by_numbers(rules, window) == on_messages(rules, window)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: str(rules.id))
def test_no_tokens_ever_lead_to_a_flush(rules: RuleSet) -> None:
    assert "flush" not in {kind for _, kind in by_numbers(rules, 60_000)}
