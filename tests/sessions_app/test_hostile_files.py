"""Whatever happened to a file: it gives a transcript or a listed problem, never another exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from sessions_app.importers import NotATranscript, read_transcript
from sessions_app.tokens.loop_chars import loop_message_chars
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.tokens.pressure import message_pressure
from sessions_app.transcripts.json_lines import parse_json_lines
from sessions_app.transcripts.loading import (
    LoadedTranscript,
    UnreadableTranscript,
    load_loose,
    load_strict,
)
from sessions_app.transcripts.session_context import SessionContext, llm_messages, session_context
from tests.sessions_app.hostile_files import HOSTILE, LINES
from tests.sessions_app.transcript_lines import HEADER

FEW = settings(max_examples=120, deadline=None)


def loaded(load: Any, data: bytes) -> tuple[LoadedTranscript, SessionContext] | None:
    """The transcript and its context; none when the loader says that the file is unreadable."""
    try:
        transcript = load(parse_json_lines(data))
        return transcript, session_context(transcript)
    except UnreadableTranscript:
        return None


@pytest.mark.parametrize("load", [load_loose, load_strict])
def test_the_undamaged_file_is_whole(load: Any) -> None:
    found = loaded(load, b"\n".join(LINES))
    assert found is not None
    transcript, context = found
    assert [value["id"] for value in transcript.branch()] == list("abcdefghi")
    assert [message["role"] for message in context.messages] == [
        "compactionSummary", "toolResult", "assistant", "custom", "branchSummary", "user",
    ]  # fmt: skip
    assert read_transcript([b"\n".join(LINES)]).problems == ()


@pytest.mark.parametrize("load", [load_loose, load_strict])
@given(data=HOSTILE)
@FEW
def test_a_loader_gives_a_transcript_or_calls_it_unreadable(load: Any, data: bytes) -> None:
    found = loaded(load, data)
    if found is None:
        return
    transcript, context = found
    assert len(transcript.branch()) <= len(transcript.entries)
    try:
        worded = llm_messages(context.messages)
    except UnreadableTranscript:
        return
    for message in worded:
        assert message_tokens(message) >= 0
        assert message_pressure(message) >= 12
        assert loop_message_chars(message) >= 0


@given(data=HOSTILE)
@FEW
def test_the_strict_loader_only_keeps_a_tree(data: bytes) -> None:
    transcript = load_strict(parse_json_lines(data))
    ids = [value["id"] for value in transcript.entries]
    assert len(set(ids)) == len(ids)
    assert all(isinstance(value, dict) for value in transcript.entries)


@given(data=HOSTILE)
@FEW
def test_what_was_loaded_reads_the_same_when_it_is_written(data: bytes) -> None:
    first = loaded(load_strict, data)
    if first is None:
        return
    transcript, context = first
    header = {**(transcript.header or HEADER), "version": 3}
    try:
        lines = [json.dumps(value, allow_nan=False) for value in (header, *transcript.entries)]
    except (ValueError, RecursionError):
        return  # a number too large for JSON, or nested deeper than the writer goes
    second = loaded(load_strict, "\n".join(lines).encode())
    assert second is not None
    assert json.dumps(second[1].messages) == json.dumps(context.messages)
    assert second[1].model == context.model
    assert [value["id"] for value in second[0].branch()] == [
        value["id"] for value in transcript.branch()
    ]


@given(data=HOSTILE)
@FEW
def test_the_importer_keeps_every_line_as_an_entry_or_as_a_problem(data: bytes) -> None:
    try:
        transcript = read_transcript([data])
    except NotATranscript:
        return
    told = {entry.line for entry in transcript.entries} | {p.line for p in transcript.problems}
    blank = b" \t\r\x00"
    for number, line in enumerate(data.split(b"\n"), start=1):
        body = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip(blank)
        is_header = transcript.header is not None and transcript.header.raw.strip(blank) == body
        assert not body or is_header or number in told, line[:200]
    for entry in transcript.entries:
        assert entry.parent_seq is None or 0 <= entry.parent_seq < entry.seq
        assert entry.kept_seq is None or 0 <= entry.kept_seq <= entry.seq
    assert [entry.seq for entry in transcript.entries] == list(range(len(transcript.entries)))


@given(data=HOSTILE)
@FEW
def test_the_importer_reads_the_same_however_the_bytes_arrive(data: bytes) -> None:
    def read(chunks: list[bytes]) -> Any:
        try:
            found = read_transcript(chunks)
        except NotATranscript as error:
            return str(error)
        return [entry.raw for entry in found.entries], found.problems

    assert read([data]) == read([data[at : at + 7] for at in range(0, len(data), 7)])
