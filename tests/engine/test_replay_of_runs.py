"""The what-if of recorded runs, held against what their logs say happened."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.replay import Replay, replay
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import (
    ROOT,
    grown_from,
    run_events,
    run_folder,
)

HUGE = replace(Policy(), context_window=1_000_000)


def recorded(name: str) -> tuple[Timeline, Replay]:
    """A recorded run, and its what-if under its own configuration."""
    folder = run_folder(name)
    transcript = next(folder.glob("*-*-*-*-*.jsonl"))
    config = json.loads((folder / "openclaw.json").read_text())
    index = json.loads((folder / "sessions.json").read_text())
    entry = next(e for e in index.values() if e["sessionId"] == transcript.stem)
    system = -(-entry["systemPromptReport"]["systemPrompt"]["chars"] // 4)
    read = policy_from_config(config, "mock", "filler-1")
    assert read.problems == ()
    around = Circumstances(provider="mock", model="filler-1", config=config)
    grown = grown_from(transcript.read_bytes())
    return grown, replay(grown, read.policy, around, system)


def simulated(done: Replay, until: int = 1_000) -> list[tuple[int, str]]:
    return [(e.turn, e.kind) for e in done.events if e.kind != "guard" and e.turn <= until]


def logged(name: str, until: int = 1_000) -> list[tuple[int, str]]:
    return [
        (e["turn"], e["kind"])
        for e in run_events(name)
        if e["kind"] != "guard" and e["turn"] <= until
    ]


@pytest.mark.parametrize(
    "name", ["keep-small-32k", "growth-96k", "flush-never-keep"]
)  # fmt: skip
def test_a_recorded_run_fires_what_it_fired_in_the_same_turns(name: str) -> None:
    _, done = recorded(name)
    assert simulated(done) == logged(name)
    assert done.totals.blocked == 0


def test_both_runs_that_get_stuck_agree_until_the_first_turn_is_blocked() -> None:
    for name in ("growth-32k", "cjk-32k"):
        _, done = recorded(name)
        assert simulated(done, until=19) == logged(name, until=19)
        assert done.totals.blocked > 0


def test_a_stuck_session_is_compacted_again_in_every_turn_without_getting_smaller() -> None:
    grown, done = recorded("growth-32k")
    compacted = [e.turn for e in done.events if e.kind == "preflight_compaction"]
    assert compacted == list(range(17, 37))
    assert done.totals.compactions == len(grown.compactions.place) == 20


@pytest.mark.parametrize("name", ["growth-96k-dense", "inner-threshold"])
def test_the_inner_threshold_fires_in_its_turn(name: str) -> None:
    # In the recording that compaction hung for a minute and preflight did its work a turn later;
    # the what-if lets it succeed.
    _, done = recorded(name)
    assert simulated(done, until=30) == logged(name, until=30)
    assert simulated(done)[-1] == (30, "threshold_compaction")


def test_gates_judge_nearly_what_the_log_says_they_judged() -> None:
    # The first flush is exact but for the time prefix of the prompt, which no transcript holds.
    for name, value in (("keep-small-32k", 8_160), ("growth-96k-dense", 74_244)):
        _, done = recorded(name)
        first = next(e for e in done.events if e.kind == "flush")
        assert first.tokens_before == value - 7


def test_the_check_misses_the_prefix_of_the_prompt_only() -> None:
    _, done = recorded("growth-96k")
    assert done.events[0].kind == "guard"
    assert done.events[0].tokens_before == 76_388  # logged: 76,426 with 127 more characters


def test_without_a_rule_that_fires_the_curve_is_the_billed_one() -> None:
    sample = ROOT / "sessions_app" / "samples" / "pi-v3-1-two-compactions.jsonl"
    grown = grown_from(sample.read_bytes())
    # The file has 2.4 MB, and from 2 MB on its size alone forces a flush in each cycle.
    policy = replace(HUGE, force_flush_transcript_bytes=0)
    done = replay(grown, policy, Circumstances())
    assert done.events == ()
    first = int(grown.compactions.before_call[0])
    known = np.flatnonzero(grown.billed_prompt[:first] != UNKNOWN)
    assert len(known) > 150
    assert done.prompt[known].tolist() == grown.billed_prompt[known].tolist()
    assert done.total[known].tolist() == grown.billed_total[known].tolist()


@pytest.mark.parametrize("name", ["growth-96k", "flush-never-keep", "inner-threshold"])
def test_a_run_is_reproduced_until_its_first_compaction(name: str) -> None:
    grown, _ = recorded(name)
    done = replay(grown, HUGE, Circumstances())
    first = int(grown.compactions.before_call[0])
    assert done.prompt[:first].tolist() == grown.billed_prompt[:first].tolist()
