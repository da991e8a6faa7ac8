"""``manage.py simulate``: files in, one JSON object a session out, no database."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from compaction_app.session_files import chains, find_sessions
from sessions_app.importers import read_transcript
from tests.golden.runs import SAMPLES

KEEP_SMALL = SAMPLES / "keep-small-32k"
EVENT_KEYS = ["turn", "call", "kind", "tokensBefore", "tokensAfter", "threshold", "reason"]


def simulate(*arguments):
    out = StringIO()
    call_command("simulate", *map(str, arguments), stdout=out)
    return out.getvalue()


def reports(*arguments):
    return json.loads(simulate(*arguments, "--json"))


def test_a_transcript_is_simulated_with_what_lies_beside_it():
    (transcript,) = KEEP_SMALL.glob("*-*.jsonl")
    (report,) = reports(transcript)
    assert list(report)[:6] == ["session", "ruleSet", "mode", "calls", "events", "totals"]
    assert (report["session"], report["mode"]) == (transcript.stem, "what-if")
    assert list(report["events"][0]) == EVENT_KEYS
    assert [event["turn"] for event in report["events"]] == [16, 17, 17, 25, 25, 32, 32]
    assert report["events"][0]["tokensBefore"] == 8160
    assert report["totals"]["compactions"] == report["totals"]["flushedBefore"] == 3


def test_an_events_call_is_the_next_one_in_the_list():
    (report,) = reports(KEEP_SMALL)
    flush = report["events"][0]
    call = report["calls"][flush["call"] - 1]
    assert (call["turn"], call["run"]) == (16, "flush")
    assert [c["call"] for c in report["calls"]] == list(range(1, len(report["calls"]) + 1))


def test_a_folder_gives_every_session_in_it_once():
    found = reports(
        SAMPLES / "keep-small-32k", SAMPLES / "growth-96k-dense", SAMPLES / "keep-small-32k"
    )
    assert len(found) == 2


def test_settings_rules_and_path_can_be_changed():
    (report,) = reports(KEEP_SMALL, "--policy", '{"contextWindow": 200000}')
    assert report["events"] == []
    (report,) = reports(KEEP_SMALL, "--rule-set", "openclaw-2026.3", "--path", "agent")
    assert report["ruleSet"] == "openclaw-2026.3"
    assert report["totals"]["flushes"] == 0


def test_a_configuration_can_be_given(tmp_path):
    config = tmp_path / "other.json"
    text = (KEEP_SMALL / "openclaw.json").read_text(encoding="utf-8")
    config.write_text(text.replace("32000", "200000"), encoding="utf-8")
    (report,) = reports(KEEP_SMALL, "--config", config)
    assert report["events"] == []


def test_an_audit_tells_every_decision():
    (report,) = reports(KEEP_SMALL, "--audit")
    assert report["mode"] == "audit"
    assert all(row["agrees"] for row in report["recorded"])
    assert {"preflight", "flush", "pre_prompt_check"} <= {d["stage"] for d in report["decisions"]}


def test_without_json_a_person_can_read_it():
    text = simulate(KEEP_SMALL)
    assert "4 flushes, 3 compactions" in text
    assert "preflight_compaction" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-file.jsonl"], "no such file"),
        ([KEEP_SMALL / "openclaw.json"], "No session transcripts"),
        ([KEEP_SMALL, "--policy", "{"], "not JSON"),
        ([KEEP_SMALL, "--policy", "[]"], "an object is expected"),
        ([KEEP_SMALL, "--policy", '{"reserve": 1}'], "no such setting"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, said):
    with pytest.raises(CommandError, match=said):
        simulate(*arguments)


def test_a_named_file_that_is_no_transcript_is_refused(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(CommandError, match="No session transcript"):
        simulate(path)


def header(session, parent=None):
    more = f',"parentSession":"{parent}"' if parent else ""
    line = f'{{"type":"session","version":3,"id":"{session}"{more}}}\n'
    return read_transcript([line.encode()])


def test_a_rotated_transcript_is_one_session_with_its_successors():
    first, second = header("a"), header("b", "/sessions/2026-12-01T00-00-00-000Z_a.jsonl")
    third, other = header("c", "b"), header("d")
    assert [[t.header.id for t in chain] for chain in chains([third, other, second, first])] == [
        ["d"], ["a", "b", "c"],
    ]  # fmt: skip


def test_transcripts_that_name_each_other_end(tmp_path):
    loop = [header("a", "b"), header("b", "a")]
    assert all(len(chain) <= 2 for chain in chains(loop))


def test_sessions_are_found_without_configuration_or_index(tmp_path):
    (transcript,) = KEEP_SMALL.glob("*-*.jsonl")
    alone = tmp_path / transcript.name
    alone.write_bytes(transcript.read_bytes())
    (files,) = find_sessions([alone])
    assert (dict(files.config), dict(files.index)) == ({}, {})


def test_the_totals_tell_what_a_cache_break_sends_again():
    (report,) = reports(KEEP_SMALL)
    totals = report["totals"]
    assert 0 < totals["tokensResent"] < totals["tokensSent"]
    assert totals["recordedTokensResent"] is None, "this session's bills tell of no cache"
    assert any("tokensResent" in note for note in report["notes"])


def test_the_size_of_simulated_summaries_is_told_and_can_be_chosen():
    (own,) = reports(KEEP_SMALL)
    (chosen,) = reports(KEEP_SMALL, "--summary", "1500")
    (capped,) = reports(KEEP_SMALL, "--summary", "cap")
    assert own["summaries"]["source"] == "recorded" and len(own["summaries"]["tokens"]) == 4
    assert sorted(own["summaries"]["tokens"][:3])[1] == own["summaries"]["tokens"][3], "the median"
    assert chosen["summaries"] == {"source": "chosen", "tokens": [1_500]}
    assert capped["summaries"]["tokens"] == [int(0.8 * 4_096)], (
        "of the reserve that this window has"
    )
    after = [report["events"][1]["tokensAfter"] for report in (own, chosen, capped)]
    assert after == sorted(after) and len(set(after)) == 3


def test_summaries_can_be_written_anew():
    (report,) = reports(KEEP_SMALL, "--summary", "extractive")
    assert report["summaries"] == {"source": "extractive", "tokens": None}
    assert report["totals"]["compactions"] >= 3


@pytest.mark.parametrize("value", ["0", "short", "1.5", "99999999999"])
def test_a_size_of_summaries_that_is_none_is_refused(value):
    with pytest.raises(CommandError, match="summary"):
        reports(KEEP_SMALL, "--summary", value)
