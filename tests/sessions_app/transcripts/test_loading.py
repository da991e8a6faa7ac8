"""Which entries of a transcript file count, under both loaders."""

from __future__ import annotations

import contextlib
import json
import math
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.transcripts.json_lines import NotJson, parse_json, parse_json_lines
from sessions_app.transcripts.loading import (
    LoadedTranscript,
    UnknownEntry,
    UnreadableTranscript,
    latest_compaction,
    load_loose,
    load_strict,
)
from sessions_app.transcripts.session_context import llm_messages, session_context
from tests.sessions_app.transcript_lines import FILES, HEADER, assistant, compaction, entry, user


def ids(transcript: LoadedTranscript) -> list[Any]:
    return [value.get("id") for value in transcript.branch()]


def test_the_leaf_is_the_last_line_and_the_branch_its_chain_of_parents() -> None:
    lines = [HEADER, user("a", None), assistant("b", "a"), user("x", "a"), assistant("y", "x")]
    for load in (load_loose, load_strict):
        assert ids(load(lines)) == ["a", "x", "y"]


def test_a_missing_parent_starts_the_branch() -> None:
    assert ids(load_loose([HEADER, user("a", None), user("b", "gone")])) == ["b"]


def test_without_a_header_first_only_the_strict_loader_sees_anything() -> None:
    lines = [user("a", None), HEADER, user("b", "a")]
    assert load_loose(lines).entries == ()
    assert ids(load_strict(lines)) == ["a", "b"]


def test_a_repeated_id_is_the_last_one_when_loose_and_the_first_one_when_strict() -> None:
    lines = [HEADER, user("a", None, "1"), user("a", None, "2")]
    assert load_loose(lines).branch()[0]["message"]["content"] == "2"
    assert load_strict(lines).branch()[0]["message"]["content"] == "1"


@pytest.mark.parametrize("load", [load_loose, load_strict])
def test_a_loop_of_parents_ends_the_branch(load: Any) -> None:
    lines = [HEADER, user("a", "b"), user("b", "a"), user("c", "c")]
    assert ids(load(lines)) == ["c"]
    assert ids(load(lines).at("b")) == ["a", "b"]


def test_a_line_without_an_id_at_the_end_leaves_no_leaf() -> None:
    loaded = load_loose([HEADER, user("a", None), 42])
    assert (loaded.leaf_id, loaded.branch(), session_context(loaded).messages) == (None, [], ())


def test_the_context_is_still_built_from_a_last_entry_that_has_no_id() -> None:
    last = {"type": "message", "parentId": "a", "message": {"role": "user", "content": "2"}}
    loaded = load_loose([HEADER, user("a", None, "1"), last])
    assert loaded.leaf_id is None
    assert [message["content"] for message in session_context(loaded).messages] == ["1", "2"]


def test_a_null_line_is_unreadable_when_loose_and_skipped_when_strict() -> None:
    for lines in ([HEADER, None], [None, HEADER]):
        with pytest.raises(UnreadableTranscript):
            load_loose(lines)
        assert load_strict(lines).entries == ()
    with pytest.raises(UnreadableTranscript):
        latest_compaction([compaction("c", None, "a"), None])


def test_the_leaf_can_be_moved_to_any_entry_or_before_all() -> None:
    loaded = load_loose([HEADER, user("a", None), user("b", "a")])
    assert ids(loaded.at("a")) == ["a"]
    assert ids(loaded.at(None)) == []
    with pytest.raises(UnknownEntry):
        loaded.at("zz")


def test_version_1_entries_get_ids_and_their_kept_index_becomes_an_id() -> None:
    lines = [
        {"type": "session", "id": "s"},
        {"type": "message", "message": {"role": "user", "content": "1"}},
        {"type": "message", "message": {"role": "hookMessage", "customType": "h", "content": "2"}},
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 2, "tokensBefore": 5},
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 0, "tokensBefore": 5},
    ]
    loaded = load_strict(lines)
    assert loaded.migrated and loaded.header == {"type": "session", "id": "s", "version": 3}
    assert [e["id"] for e in loaded.entries] == ["00000001", "00000002", "00000003"]
    loose = load_loose(lines)
    assert loose.entries[2]["firstKeptEntryId"] == "00000002"
    assert (
        "firstKeptEntryIndex" not in loose.entries[3] and "firstKeptEntryId" not in loose.entries[3]
    )
    assert loose.entries[1]["message"]["role"] == "custom"
    assert "version" not in lines[0] and "id" not in lines[1], "the input is left as it was"


def test_a_later_version_is_left_alone() -> None:
    line = entry("a", None, message={"role": "hookMessage", "content": "x"})
    assert load_loose([{**HEADER, "version": 4}, line]).entries == (line,)


def test_entries_below_a_rejected_one_hang_from_its_nearest_accepted_ancestor() -> None:
    bad, worse = entry("bad", "a", "odd"), entry("worse", "bad", message={"role": "nope"})
    loaded = load_strict([HEADER, user("a", None), bad, worse, user("c", "worse")])
    assert ids(loaded) == ["a", "c"]


def test_a_header_as_parent_is_left_as_it_is() -> None:
    loaded = load_strict([HEADER, user("a", HEADER["id"])])
    assert loaded.entries[0]["parentId"] == HEADER["id"] and ids(loaded) == ["a"]


def test_a_label_is_kept_only_when_its_target_was() -> None:
    label = entry("l", "a", "label", targetId="zz")
    assert ids(load_strict([HEADER, user("a", None), label, user("b", "l")])) == ["a", "b"]
    label["targetId"] = "a"
    assert ids(load_strict([HEADER, user("a", None), label, user("b", "l")])) == ["a", "l", "b"]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([user("a", None), entry("x", "a", "odd"), user("c", "x"), compaction("k", "c", "x")], "a"),
        ([entry("x", None, "odd"), user("c", "x"), user("d", "c"), compaction("k", "d", "x")], "c"),
        (
            [entry("x", None, "odd"), user("c", "x"), user("d", None), compaction("k", "d", "x")],
            "c",
        ),
        ([entry("x", None, "odd"), user("d", None), compaction("k", "d", "x")], "d"),
    ],
    ids=["ancestor", "first on the branch", "first anywhere", "parent of the compaction"],
)
def test_a_compaction_that_kept_from_a_rejected_entry_keeps_from_the_closest_sound_one(
    lines: list[Any], kept: str
) -> None:
    assert load_strict([HEADER, *lines]).entries[-1]["firstKeptEntryId"] == kept


@given(FILES)
@settings(max_examples=150, deadline=None)
def test_any_lines_give_a_transcript_or_say_that_it_is_unreadable(lines: list[Any]) -> None:
    strict = load_strict(lines)
    strict.branch()
    for load in (load_loose, load_strict):
        try:
            loaded = load(lines)
            context = session_context(loaded)
            llm_messages(context.messages)
            loaded.branch()
        except UnreadableTranscript:
            pass


@given(FILES)
@settings(max_examples=100, deadline=None)
def test_loading_writing_and_loading_again_gives_the_same_context(lines: list[Any]) -> None:
    first = load_strict(lines)
    written = [json.loads(json.dumps(v)) for v in (first.header or HEADER, *first.entries)]
    second = load_strict(written)
    assert [e["id"] for e in second.entries] == [e["id"] for e in first.entries]
    assert ids(second) == ids(first)
    assert outcome(first) == outcome(second)


def outcome(transcript: LoadedTranscript) -> str:
    try:
        return json.dumps(session_context(transcript).messages)
    except UnreadableTranscript as error:
        return str(error)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_bytes_or_text_give_json_or_say_that_they_are_none(content: bytes | str) -> None:
    parse_json_lines(content)
    with contextlib.suppress(NotJson):
        parse_json(content)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a": "\\ud83d"}', {"a": "\ud83d"}),
        (b'"\xff"', "\ufffd"),
        ('{"a":1}\r', {"a": 1}),
        ('"\\u0000"', "\0"),
        ('{"a":1,"a":2}', {"a": 2}),
        ("9" * 5000, math.inf),
        ("[" * 2000 + "]" * 2000, None),
    ],
    ids=["lone surrogate", "broken utf-8", "crlf", "nul", "repeated key", "huge", "deep"],
)
def test_odd_lines_that_are_json(line: bytes | str, value: Any) -> None:
    if value is None:
        parse_json_lines(line)
    else:
        assert parse_json_lines(line) == [value]


@pytest.mark.parametrize(
    "line", ["", "  ", "\ufeff{}", "NaN", "{a:1}", '{"a":1}{"b":2}', '{"a":', "[" * 100_000]
)
def test_lines_that_are_no_json_are_passed_over(line: str) -> None:
    assert parse_json_lines(f"{line}\n[1]") == [[1]]


def test_loading_costs_no_more_than_reading_the_lines_twice() -> None:
    text = "z" * 400
    lines = [HEADER] + [user(f"{i:08x}", f"{i - 1:08x}" if i else None, text) for i in range(4000)]
    content = b"\n".join(orjson.dumps(line) for line in lines)

    def seconds(run: Any) -> float:
        best = 9.0
        for _ in range(5):
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
        return best

    parsing = seconds(lambda: [json.loads(line) for line in content.split(b"\n")])
    assert seconds(lambda: load_strict(parse_json_lines(content))) < 2 * parsing
