"""What is left of a recording when everything its own policy caused is taken out."""

from __future__ import annotations

from compaction_app.engine.simulation.recording import read_recording
from sessions_app.importers import read_transcript
from sessions_app.transcripts.timestamps import epoch_ms
from tests.golden.runs import RUNS, folder
from tests.importers.reading import DATA


def recording(name):
    paths = list(folder(name).glob("*-*.jsonl"))
    transcript = read_transcript([paths[0].read_bytes()])
    return read_recording(transcript.entries)


def test_flushes_compactions_and_replies_of_the_gateway_are_no_turns():
    found = recording("growth-32k")
    assert len(found.turns) == 36
    assert dict(found.stripped) == {"flush": 4, "compaction": 20, "injected": 17}
    assert [turn.number for turn in found.turns] == list(range(1, 37))


def test_a_typed_compact_is_a_turn_with_its_instructions():
    found = recording("manual-compact")
    typed = [turn for turn in found.turns if turn.kind == "compact"]
    assert [turn.number for turn in typed] == [2, 14, 15, 20]
    assert typed[0].instructions is None
    assert typed[1].instructions == "Keep every ref number and the last three requests."


def test_what_a_rewrite_appended_again_is_one_turn_with_its_first_results():
    found = recording("tools-aggregate")
    assert len(found.turns) == 10
    first = found.turns[0].calls[0].results[0]["message"]["content"][0]["text"]
    assert len(first) == 13_999  # later copies of it hold 962 and 69 characters


def test_an_answer_without_a_stored_prompt_is_kept_as_a_message_between_turns():
    path = RUNS / "subagent" / "52e9d819-9398-444d-ae46-9d9fb25737b0.jsonl"
    found = read_recording(read_transcript([path.read_bytes()]).entries)
    assert found.stripped["run_without_prompt"] == 1
    assert [len(turn.before) for turn in found.turns] == [0, 0, 1]


def test_a_prompt_stored_again_under_its_key_is_the_same_turn():
    lines = [
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-12-01T00:00:00.000Z"}',
        b'{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"a","timestamp":1,"idempotencyKey":"k:user"}}',
        b'{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[],"stopReason":"error","timestamp":2}}',
        b'{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":"a","timestamp":3,"idempotencyKey":"k:user"}}',
        b'{"type":"message","id":"4","parentId":"3","message":{"role":"assistant","content":[],"stopReason":"stop","timestamp":4}}',
    ]
    found = read_recording(read_transcript([b"\n".join(lines) + b"\n"]).entries)
    assert [len(turn.calls) for turn in found.turns] == [2]
    assert found.turns[0].run_id == "k"


def test_another_agents_summary_without_a_moment_takes_that_of_what_came_before():
    path = DATA / "other_agents" / "claude-code-6-golden-compact-boundary.jsonl"
    entries = read_transcript([path.read_bytes()]).entries
    first, second = (entry for entry in entries if entry.type == "compaction")
    found = read_recording(entries).entries
    assert found[first.seq] == first.record  # it names its own
    assert second.timestamp_ms is None
    known = [e.timestamp_ms for e in entries[: second.seq] if e.timestamp_ms is not None]
    assert epoch_ms(found[second.seq]["timestamp"]) == known[-1]
