"""Blocks of lines give what their lines give one by one, whatever stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers.blocks import blocks, lines
from sessions_app.importers.links import Linked, Links
from sessions_app.importers.loading import load
from sessions_app.importers.records import parse, parse_block
from sessions_app.transcripts.transcript import Header, Problem
from tests.builders import Chain, header, jsonl
from tests.importers.reading import DATA, SAMPLES

FILES = sorted([*SAMPLES.rglob("*.jsonl"), *(DATA / "transcripts").glob("*.jsonl")])
IDS = ["a", "b", "c", "d", "é", "n\n", "x" * 300, "", None, 3]


def singly(data: bytes) -> list[Header | Linked | Problem]:
    """The same by the long way: one line at a time."""
    links = Links()
    found: list[Header | Linked | Problem] = []
    for item in chain.from_iterable(parse(line).items for line in lines([data])):
        found += (item,) if isinstance(item, Problem) else links.link(item)
    return found


def together(data: bytes, size: int) -> list[Header | Linked | Problem]:
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    return [item for stretch in load(chunks, Links()) for item in stretch.items]


@pytest.mark.parametrize("size", [1000, 1 << 16, 1 << 20])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files_give_the_same_in_blocks_as_line_by_line(path: Path, size: int) -> None:
    data = path.read_bytes()
    assert together(data, size) == singly(data)


@given(
    st.sampled_from([1, 2, 3]),
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["message", "custom", "compaction", "session", None, []])},
            optional={
                "id": st.sampled_from(IDS),
                "parentId": st.sampled_from([*IDS, ["a"], "the-session"]),
                "firstKeptEntryId": st.sampled_from(IDS),
                "firstKeptEntryIndex": st.integers(-1, 9),
                "message": st.sampled_from([{"role": "hookMessage"}, {"role": "user"}, 1]),
            },
        ),
        max_size=12,
    ),
    st.integers(1, 400),
)
def test_any_records_give_the_same_in_blocks_as_line_by_line(
    version: int, records: list[dict[str, object]], size: int
) -> None:
    data = jsonl(header(version), *records)
    assert together(data, size) == singly(data)


def long_session(turns: int = 100) -> Chain:
    session = Chain()
    for turn in range(turns):
        session.user(f"Question {turn}")
        session.assistant(f"Answer {turn}")
    return session


def test_sound_lines_are_linked_all_at_once() -> None:
    """What the speed rests on: no line of a sound block is looked at alone."""
    data = long_session().data()
    first, rest = next(blocks([data])).split(1)
    links = Links()
    assert [type(item) for item in _linked_singly(links, first.lines[0])] == [Header]
    read = parse_block(rest)
    assert read is not None
    linked = links.link_all(2, *read)
    assert linked == singly(data)[1:]


def test_records_that_cannot_be_linked_at_once_leave_nothing_behind() -> None:
    session = long_session(3)
    session.records[-1]["parentId"] = "nowhere"
    links = Links()
    list(_linked_singly(links, jsonl(session.records[0]).rstrip()))
    assert links.link_all(2, session.records[1:], [b""] * 6) is None
    assert (links.seq_of_id, links.parents) == ({}, [])


def _linked_singly(links: Links, line: bytes) -> Sequence[Header | Linked | Problem]:
    (record,) = parse(next(lines([line + b"\n"]))).items
    assert not isinstance(record, Problem)
    return list(links.link(record))


@pytest.mark.parametrize("at", [1, 2, 77, 150, 200])
def test_one_bad_line_among_many_costs_only_itself(at: int) -> None:
    records = jsonl(*long_session().records).split(b"\n")
    data = b"\n".join([*records[:at], b'{"type": "mess', *records[at:]])
    found = together(data, 1 << 20)
    assert [item.line for item in found if isinstance(item, Problem)] == [at + 1]
    assert sum(isinstance(item, Linked) for item in found) == 200
    assert found == singly(data)


def test_a_compaction_among_many_entries_knows_what_it_kept() -> None:
    session = long_session(20)
    session.compaction("e10")
    session.user("after")
    (compaction,) = (
        item
        for item in together(session.data(), 1 << 20)
        if isinstance(item, Linked) and item.record["type"] == "compaction"
    )
    assert compaction.kept_seq == 9


@given(st.lists(st.binary(max_size=9)), st.integers(1, 30))
def test_a_block_ends_where_its_last_line_ends(parts: list[bytes], size: int) -> None:
    data = b"\n".join(parts)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    for block in blocks(chunks):
        assert list(block.each())[-1].end == block.end
        left, right = block.split(1)
        assert (left.end, right.end if right.lines else left.end) == (right.start, block.end)
