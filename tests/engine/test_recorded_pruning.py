"""What the real runtime pruned from each call of two recorded runs, found again by the what-if."""

from __future__ import annotations

from typing import Any

import numpy as np

from compaction_app.engine.calibration import weigh
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.replay_pruned_calls import CallPruning
from compaction_app.engine.replay_pruning_found import PrunedCalls
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.transcripts.timeline import Timeline, timeline
from tests.engine.timelines import RecordedRun, recorded


def circumstances(run: RecordedRun) -> tuple[Policy, Circumstances]:
    policy = policy_from_config(run.config, "mock", "filler-1").policy
    return policy, Circumstances(provider="mock", model="filler-1", config=run.config)


def seen(run: RecordedRun, grown: Timeline, pruning: PrunedCalls, call: int) -> list[list[Any]]:
    """The results that were changed at a call, as the recording names them: id, characters, form."""
    found = []
    for row, gone in pruning.removed_by_row(call).items():
        name = run.entries[int(grown.branch[row])].message["toolCallId"].replace("_", "")
        chars = int(grown.columns.pruner_chars[row]) - gone
        found.append([name, chars, "cleared" if chars == 33 else "trimmed"])
    return found


def changed(view: dict[str, Any]) -> list[list[Any]]:
    return [result for result in view["results"] if result[2] != "whole"]


def what_if(run: RecordedRun, leaf: int | None = None) -> tuple[Timeline, Replay]:
    policy, around = circumstances(run)
    grown = timeline(run.columns, leaf)
    return grown, replay(grown, policy, around)


def test_soft_trims_and_clears_come_at_the_recorded_calls() -> None:
    run = recorded("prune-hard-clear")
    grown, done = what_if(run)
    assert grown.calls == len(run.views)
    for call, view in enumerate(run.views):
        assert seen(run, grown, done.pruning, call) == changed(view), f"call {call + 1}"
    assert done.totals.pruned == 8


def test_the_prompts_of_the_what_if_are_those_that_were_billed() -> None:
    run = recorded("prune-hard-clear")
    _, done = what_if(run)
    recorded_prompts = np.array([view["prompt"] for view in run.views])
    assert np.abs(done.prompt - recorded_prompts).max() <= 3


def test_only_the_first_call_after_the_ttl_is_pruned() -> None:
    run = recorded("prune-cache-ttl")
    before_compaction = run.seq("20aaa052")
    grown, done = what_if(run, before_compaction)
    assert grown.calls == 14
    for call, view in enumerate(run.views[:14]):
        assert seen(run, grown, done.pruning, call) == changed(view), f"call {call + 1}"
    assert np.flatnonzero(done.pruning.fired).tolist() == [11, 12]
    assert done.pruning.reason[13] == "ttl_not_elapsed"


def test_the_same_after_a_compaction_and_a_rewrite() -> None:
    """Driven along the recorded compaction, so that nothing but pruning is judged."""
    run = recorded("prune-cache-ttl")
    policy, around = circumstances(run)
    grown = timeline(run.columns)
    rows = ReplayRows(grown, weigh(grown))
    pruning = CallPruning(grown, rows, policy, around, lines_of(policy, around))
    kept = int(grown.compactions.kept[-1])
    first = 14  # the calls before are those of the rewritten branch
    for turn in range(8, 13):
        calls = np.flatnonzero(grown.turn == turn)
        pruning.begin_attempt()
        places = grown.place[calls]
        pruning.send(np.zeros(len(calls), np.int64), kept, True, places, int(calls[0]))
        pruning.end_attempt(int(places[-1]))
    done = pruning.result()
    for call, view in enumerate(run.views[first:], first):
        assert seen(run, grown, done, call) == changed(view), f"call {call + 1}"
    assert done.calls == 2
