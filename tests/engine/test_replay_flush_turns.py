"""Flush turns of the what-if by numbers, held against the exact replay of the same transcripts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, RULE_SETS
from compaction_app.engine.simulation.inputs import Asked, SessionFiles, simulation_inputs
from compaction_app.engine.tape.what_if import tape_report, tape_what_if
from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import UNKNOWN
from tests.engine.builders import FLUSH_TEXT, HEADER, Script, chat, grown_from

WINDOW = 200_000
AROUND = Circumstances(provider="mock", model="m")


def file_of(script: Script) -> bytes:
    """The transcript as the runtime writes it, without blanks."""
    lines = [HEADER, *script.entries]
    return "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines).encode()


def by_numbers(script: Script, **changes: Any) -> Replay:
    policy = replace(Policy(), context_window=WINDOW, **changes)
    return replay(grown_from(file_of(script)), policy, AROUND)


def exactly(script: Script, **changes: Any) -> dict[str, Any]:
    """The report of the exact replay; ``changes`` by key."""
    read = read_transcript([file_of(script)])
    files = SessionFiles((read,), {}, {"modelProvider": "mock", "model": "m"})
    asked = Asked(OPENCLAW_2026_5_28, changes={"contextWindow": WINDOW, **changes})
    inputs = simulation_inputs(files, asked)
    return tape_report(inputs, tape_what_if(inputs))


def flushes(report: dict[str, Any]) -> list[tuple[int, str]]:
    return [(e["turn"], e["reason"]) for e in report["events"] if e["kind"] == "flush"]


@pytest.mark.parametrize("limit", [1, 40_000, 80_000, 120_000, 10_000_000, 0])
def test_the_size_of_the_transcript_forces_a_flush_at_the_turn_at_which_it_does(limit: int) -> None:
    script = chat(60, overhead=1_000)
    done = by_numbers(script, force_flush_transcript_bytes=limit)
    report = exactly(script, **{"compaction.memoryFlush.forceFlushTranscriptBytes": limit})
    assert [(e.turn, e.reason) for e in done.events if e.kind == "flush"] == flushes(report)
    assert done.totals.flushes == (0 < limit < 1_000_000)


def test_a_forced_flush_runs_once_a_compaction_cycle() -> None:
    script = chat(60, overhead=1_000)
    done = by_numbers(script, force_flush_transcript_bytes=1, reserve_tokens_floor=188_000)
    cycles = done.totals.compactions
    assert cycles >= 2
    assert done.totals.flushes in (cycles, cycles + 1)


def test_a_flush_turn_is_sent_with_the_calls_behind_it_as_in_the_exact_replay() -> None:
    script = chat(60, overhead=1_000)
    limit = {"compaction.memoryFlush.forceFlushTranscriptBytes": 80_000}
    done = by_numbers(script, force_flush_transcript_bytes=80_000)
    prompts = [c["promptTokens"] for c in exactly(script, **limit)["calls"] if c["run"] == "turn"]
    assert done.prompt.tolist() == prompts
    recorded = script.grown().billed_prompt.tolist()
    turn = next(e.turn for e in done.events if e.kind == "flush")
    assert prompts[: turn - 1] == recorded[: turn - 1]
    assert all(
        sent > was for sent, was in zip(prompts[turn - 1 :], recorded[turn - 1 :], strict=True)
    )


def test_a_flush_turn_takes_what_the_recorded_one_did() -> None:
    script = chat(30, overhead=1_000)
    script.user(FLUSH_TEXT).answer(4_000, prompt=20_000).result(8_000).answer(40, prompt=23_000)
    script.user(400).answer(400, prompt=17_400)
    silent, busy = chat(30, overhead=1_000).user(400).answer(400, prompt=17_400), script
    sent = [
        by_numbers(one, force_flush_transcript_bytes=60_000).prompt.tolist()
        for one in (silent, busy)
    ]
    # An answer, a result, and an answer where the other flush turn has one that is not sent again.
    assert sent[1][-1] - sent[0][-1] == 1_000 + 2_000 + 10
    assert [prompt for prompt in sent[1][:-1] if prompt != UNKNOWN][:20] == sent[0][:20]


def test_a_compaction_takes_the_flush_turn_before_its_cut_along() -> None:
    script = chat(80, overhead=1_000)
    changes: dict[str, Any] = {"reserve_tokens_floor": 160_000, "keep_recent_tokens": 5_000}
    forced = by_numbers(script, force_flush_transcript_bytes=20_000, **changes)
    never = by_numbers(
        script, force_flush_transcript_bytes=0, memory_flush_enabled=False, **changes
    )
    behind = [d.cuts[-1].end for d in (forced, never)]
    assert behind[0] == behind[1]
    assert forced.totals.flushes > 0
    assert never.totals.flushes == 0


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: str(rules.id))
def test_a_flush_turn_is_sent_again_where_the_version_stores_it(rules: Any) -> None:
    around = replace(AROUND, rules=rules)
    policy = replace(Policy(), context_window=WINDOW, force_flush_transcript_bytes=1)
    script = chat(10, overhead=1_000)
    grown = script.grown()
    done = replay(grown, policy, around)
    assert done.totals.flushes == 1
    is_sent = int(done.prompt[-1]) > int(grown.billed_prompt[-1])
    assert is_sent == rules.turn.flush_stored
