"""What holds for the files of all other agents: spoilt, in chunks, as they grow."""

from __future__ import annotations

import copy
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.importers import NotATranscript, read_transcript
from sessions_app.importers.blocks import BEGINNING
from sessions_app.importers.reading import FileReader
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.transcript import Entry, Problem
from tests.importers.other_agents import (
    CODEX,
    FILES,
    KIMI,
    TRAJECTORY,
    USER,
    claude,
    claude_block,
    read,
    tool_result,
    tool_use,
)
from tests.importers.reading import DATA

STRANGE: tuple[Any, ...] = (
    None,
    0,
    -1,
    "",
    "\ud800",
    [],
    {},
    [None],
    {"type": []},
    True,
    1e400,
    [[]],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return found + [place for key, item in inner for place in places(item, (*path, key))]


SAMPLES: list[list[Any]] = [
    [
        USER,
        claude_block("a", "u1", tool_use("t")),
        claude("user", "r", "a", tool_result("t")),
        USER,
    ],
    CODEX,
    KIMI,
    [TRAJECTORY],
    [orjson.loads((DATA / "other_agents" / "gemini-cli-2.json").read_bytes())],
    [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [tool_use("t")]},
        tool_result("t"),
    ],
]


@settings(max_examples=300)
@given(st.sampled_from(SAMPLES), st.data())
def test_nothing_that_is_spoilt_in_a_file_raises(sample: list[Any], data: st.DataObject) -> None:
    spoilt = copy.deepcopy(sample)
    path = data.draw(st.sampled_from(places(spoilt)))
    holder: Any = spoilt
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = data.draw(st.sampled_from(STRANGE))
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in spoilt)
    try:
        found = read_transcript([lines], at_rest=True)
    except NotATranscript:
        return
    for entry in found.entries:
        measure(entry)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_chunks_of_any_size_give_the_same(path: Any) -> None:
    data = path.read_bytes()
    whole = read_transcript([data])
    assert read_transcript(data[at : at + 777] for at in range(0, len(data), 777)) == whole


def settled(data: bytes, reader: FileReader) -> list[Entry]:
    return [item for _, item in reader.read([data]) if isinstance(item, Entry)]


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.suffix == ".jsonl"], ids=lambda path: path.name
)
def test_what_is_settled_at_any_line_stays(path: Any) -> None:
    """What an import may keep of a file that grows is the beginning of what the whole file gives."""
    lines = path.read_bytes().splitlines(keepends=True)
    whole = settled(b"".join(lines), FileReader())
    for count in range(3, len(lines), 7):
        reader = FileReader()
        entries = settled(b"".join(lines[:count]), reader)
        assert entries[: reader.settled_entries] == whole[: reader.settled_entries]


@pytest.mark.parametrize("records", [CODEX, KIMI], ids=["codex", "kimi"])
def test_a_reader_that_is_kept_reads_on_where_it_was(records: list[Any]) -> None:
    reader, at, found = FileReader(), BEGINNING, dict[int, Entry]()
    problems: list[Problem] = []
    for record in records:
        for end, item in reader.read([orjson.dumps(record) + b"\n"], at):
            at = end
            if isinstance(item, Entry):
                found[item.seq] = item  # what was held comes again once it has ended
            problems += (item,) if isinstance(item, Problem) else ()
    whole = read(*records)
    assert tuple(found[seq] for seq in sorted(found)) == whole.entries
    assert problems == []
