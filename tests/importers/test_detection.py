"""Which files are transcripts: one clear message for those that are not."""

from __future__ import annotations

import json

import pytest

from sessions_app.importers import NotATranscript, read_transcript
from tests.builders import header, jsonl, short_session
from tests.importers.reading import DATA

OURS = sorted((DATA / "transcripts").glob("*.jsonl"))


SOURCES = {
    "claude-code-6-golden-compact-boundary.jsonl": "claude-code",
    "claude-code-7-edge-cases.jsonl": "claude-code",
    "claude-code-9-head.jsonl": "claude-code",
    "codex-4-head.jsonl": "codex",
    "gemini-cli-1.jsonl": "gemini-cli",
    "gemini-cli-2.json": "gemini-cli",
    "kimi-wire-3-head.jsonl": "kimi",
}


@pytest.mark.parametrize("name", SOURCES)
def test_files_of_other_agents_are_known_by_what_stands_in_them(name: str) -> None:
    found = read_transcript([(DATA / "other_agents" / name).read_bytes()])
    assert found.header is not None
    assert found.header.source == SOURCES[name]
    assert found.entries


def test_a_refusal_is_one_sentence_that_names_what_was_looked_for() -> None:
    with pytest.raises(NotATranscript) as refused:
        read_transcript([b"hello\n"])
    said = str(refused.value)
    assert said.count(". ") == 0
    for title in (
        "OpenClaw",
        "pi",
        "Claude Code",
        "Codex",
        "Kimi",
        "Gemini CLI",
        "SWE-agent",
        "plain",
    ):
        assert title in said


def test_a_document_that_breaks_off_is_refused() -> None:
    with pytest.raises(NotATranscript):
        read_transcript([(DATA / "other_agents" / "swe-agent-1-head.traj").read_bytes()])


def test_a_rollout_printed_over_many_lines_is_refused_in_one_sentence() -> None:
    record = {"type": "session_meta", "payload": {"id": "x", "cwd": "/", "source": "cli"}}
    data = json.dumps(record, indent=2).encode() + b"\n" + json.dumps(record, indent=2).encode()
    with pytest.raises(NotATranscript):
        read_transcript([data])


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_real_files_are_known(path: object) -> None:
    assert read_transcript([path.read_bytes()]).entries  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"hello\n",
        b"\x00" * 100,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
        b'{\n "type": "session",\n "id": "pretty printed"\n}\n',
        b'[{"type":"session","id":"x"}]\n',
        b'{"type":"session","id":5}\n',
        b'{"type":"session","version":9,"id":"x"}\n',
        b'{"type":["session"],"id":"x"}\n',
        b'{"type":"message","role":"user","content":[]}\n',
        b'{"type":"message","message":"text"}\n',
    ],
)
def test_what_is_no_transcript_gets_one_message(data: bytes) -> None:
    with pytest.raises(NotATranscript):
        read_transcript([data])


def test_a_file_may_begin_with_a_few_bad_lines() -> None:
    read_back = read_transcript([b"junk\n" * 19 + short_session().data()])
    assert len(read_back.entries) == 8
    assert len(read_back.problems) == 19


def test_a_file_must_show_soon_what_it_is() -> None:
    with pytest.raises(NotATranscript):
        read_transcript([b"junk\n" * 20 + short_session().data()])


def test_a_header_alone_is_a_transcript() -> None:
    assert read_transcript([jsonl(header())]).header is not None
