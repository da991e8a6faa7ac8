"""A file read while it is written gives the same entries as the finished file."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers import NotATranscript, openclaw, read_transcript
from sessions_app.importers.blocks import BEGINNING
from tests.builders import Chain, header, jsonl, short_session
from tests.importers.reading import Live

IDS = st.sampled_from(["a", "b", "c", "", "é", "\ud800", "n\n", "x" * 300, None, 3])


def messy_file() -> bytes:
    """Everything at once: joined, torn, blank and bad lines, CJK, a lone surrogate, no last line end."""
    chain = short_session()
    chain.user("漢字 🎈 \ud83d \x00")
    records = [json.dumps(r, ensure_ascii=n % 2 == 0) for n, r in enumerate(chain.records)]
    data = [r.encode("utf-8", "surrogatepass") for r in records]
    return (
        data[0] + b"\r\n" + data[1] + b"\n\n  \n" + data[2] + data[3] + b"\n" + data[4][:90] + b"\n"
        b"12\n\x00\x00\n" + data[5][:80] + data[6] + b"\ngarbage\n" + data[7] + b" " + data[8] + data[9]
    )  # fmt: skip


@given(st.lists(st.integers(0, len(messy_file())), max_size=4))
def test_any_splits_give_the_same_entries(splits: list[int]) -> None:
    data = messy_file()
    live = Live()
    for end in [*sorted(splits), len(data)]:
        if live.at == BEGINNING and b"\n" not in data[:end]:
            continue  # not yet known for a transcript
        live.read(data[:end])
    whole = read_transcript([data])
    assert tuple(live.entries) == whole.entries
    # What is said of the lines is the same, but that a begun line may be said to be joined twice.
    assert set(_said(live.problems)) == set(_said(whole.problems))


def _said(problems: object) -> list[tuple[int, str]]:
    return [(p.line, p.kind) for p in problems]  # type: ignore[attr-defined]


def test_a_split_anywhere_gives_the_same_entries() -> None:
    data = messy_file()
    whole = read_transcript([data]).entries
    for end in range(data.index(b"\n"), len(data), 3):
        live = Live()
        live.read(data[:end])
        live.read(data)
        assert tuple(live.entries) == whole, f"split at byte {end}"


def test_a_file_that_has_not_grown_gives_nothing_new() -> None:
    live = Live()
    for _ in range(3):
        live.read(short_session().data())
    assert len(live.entries) == 8


def test_what_was_open_at_the_end_of_the_first_read_is_remembered() -> None:
    chain = Chain()
    chain.user("Continue the OpenClaw runtime event.")
    chain.assistant(calls=("c",))
    live = Live()
    live.read(chain.data())
    chain.result("c")
    chain.compaction("e2")
    live.read(chain.data())
    assert live.problems == []
    assert [e.mark for e in live.entries] == ["flush", "flush", "flush", ""]
    assert live.entries[-1].kept_seq == 1


CONTENT = st.one_of(
    st.text(max_size=5),
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "toolCall", "image", []])},
            optional={"id": IDS, "text": st.one_of(st.text(max_size=5), st.none())},
        ),
        max_size=2,
    ),
    st.none(),
)
RECORDS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["message", "message", "compaction", "custom", "session", "odd", [], None]
        )
    },
    optional={
        "id": IDS,
        "parentId": IDS,
        "firstKeptEntryId": IDS,
        "firstKeptEntryIndex": st.one_of(st.integers(-2, 9), st.floats()),
        "timestamp": st.one_of(st.none(), st.floats(), st.text(max_size=3)),
        "message": st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "toolResult", 1, []])},
            optional={
                "content": CONTENT,
                "toolCallId": IDS,
                "provider": st.sampled_from(["openclaw", "p", 0]),
                "timestamp": st.sampled_from([1, 2, None]),
            },
        ),
    },
)


@given(st.lists(RECORDS, max_size=8), st.sampled_from([1, 2, 3]), st.binary(max_size=5), st.data())
def test_any_records_at_any_split_give_the_same_entries(
    records: list[dict[str, object]],
    version: int,
    junk: bytes,
    data: st.DataObject,
) -> None:
    file = jsonl(header(version)) + _written(records, junk, data.draw)
    end = data.draw(st.integers(file.index(b"\n"), len(file)))
    live = Live()
    live.read(file[:end])
    live.read(file)
    assert tuple(live.entries) == read_transcript([file]).entries


def _written(records: list[dict[str, object]], junk: bytes, draw: Callable[..., object]) -> bytes:
    lines = [json.dumps(record).encode() for record in records]
    ends = [draw(st.sampled_from([b"\n", b"\n", b"", b" ", junk])) for _ in lines]
    return b"".join(line + end for line, end in zip(lines, ends, strict=True))  # type: ignore[operator]


@given(st.one_of(st.binary(), st.lists(st.sampled_from([b"{", b'"type":', b'"session"', b"}", b"\n", b","])).map(b"".join)))  # fmt: skip
def test_bytes_of_any_kind_raise_nothing_but_that_they_are_no_transcript(data: bytes) -> None:
    with suppress(NotATranscript):
        read_transcript([data])
    Live().read(data)


def test_the_reader_keeps_only_numbers_and_names() -> None:
    """What must be known to read on does not hold the texts, so memory stays flat."""
    state = openclaw.ReaderState()
    live = Live()
    live.state = state
    live.read(short_session().data())
    assert "Question" not in repr(state)
