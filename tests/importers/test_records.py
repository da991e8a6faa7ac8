"""Lines to records: whatever is wrong with one is said, and nothing else is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers.blocks import BEGINNING, Position, lines
from sessions_app.importers.records import GIANT_LINE_CHARS, Parsed, Record, parse
from sessions_app.transcripts.transcript import Problem

ENTRY = b'{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z"}'
OTHER = b'{"type":"custom","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:01Z"}'
# A message that was cut off: what it holds begins as a record does.
TORN = (
    b'{"type":"message","id":"m","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant",'
    b'"content":[{"type":"text","text":"hello"},{"type":"toolCall","id":"c","name":"read","argum'
)


def parsed(data: bytes) -> Parsed:
    (line,) = lines([data])
    return parse(line)


def kinds(data: bytes) -> list[str]:
    return [item.kind for item in parsed(data).items if isinstance(item, Problem)]


def raws(data: bytes) -> list[bytes]:
    return [item.raw for item in parsed(data).items if isinstance(item, Record)]


@given(st.lists(st.binary(max_size=20)), st.integers(1, 7))
def test_lines_are_the_same_however_the_bytes_arrive(parts: list[bytes], size: int) -> None:
    data = b"\n".join(parts)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(lines(chunks)) == list(lines([data]))
    assert b"".join(x.data + b"\n" * x.terminated for x in lines(chunks)) == data


def test_a_line_knows_where_it_ends() -> None:
    ends = [line.end for line in lines([b"ab\n\nc"])]
    assert ends == [Position(3, 2), Position(4, 3), Position(5, 3, begun=True)]
    assert [end.lines for end in ends] == [1, 2, 3]


@pytest.mark.parametrize("blank", [b"\n", b"  \n", b"\r\n", b"\t \r\n", b"\x00\x00\n"])
def test_a_blank_line_gives_nothing(blank: bytes) -> None:
    assert parsed(blank).items == ()


@pytest.mark.parametrize(
    "written", [ENTRY + b"\n", ENTRY + b"\r\n", b"  " + ENTRY + b" \n", b"\x00\x00" + ENTRY + b"\n"]
)
def test_line_ends_and_padding_are_no_part_of_a_record(written: bytes) -> None:
    assert raws(written) == [ENTRY]
    assert kinds(written) == []


def test_a_byte_order_mark_is_taken_off_the_first_line_only() -> None:
    assert raws(b"\xef\xbb\xbf" + ENTRY + b"\n") == [ENTRY]
    first, second = lines([ENTRY + b"\n" + b"\xef\xbb\xbf" + ENTRY + b"\n"])
    assert parse(first).items[0] == Record(1, {**_value(ENTRY)}, ENTRY)
    assert isinstance(parse(second).items[0], Problem)


def _value(raw: bytes) -> dict[str, object]:
    (record,) = parsed(raw + b"\n").items
    assert isinstance(record, Record)
    return record.value


@pytest.mark.parametrize(
    ("scalar", "name"),
    [
        (b"12", "a number"),
        (b'"text"', "a string"),
        (b"[1, 2]", "a list"),
        (b"true", "a boolean"),
        (b"null", "null"),
    ],
)
def test_a_line_that_holds_no_object_is_named_and_kept(scalar: bytes, name: str) -> None:
    (problem,) = parsed(scalar + b"\n").items
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.raw) == ("FILE_BAD_LINE", scalar)
    assert f"holds {name} where" in problem.message


@pytest.mark.parametrize(
    "bad", [b"{", b"nonsense", b'{"a":NaN}', b'{"a":Infinity}', b'{"a":"\x00"}', b"{'a':1}", TORN]
)
def test_a_line_that_is_no_json_is_kept_byte_for_byte(bad: bytes) -> None:
    (problem,) = parsed(bad + b"\n").items
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.raw) == ("FILE_BAD_LINE", bad)


def test_records_joined_on_one_line_are_both_recovered() -> None:
    assert kinds(ENTRY + OTHER + b"\n") == ["FILE_JOINED_RECORDS"]
    assert raws(ENTRY + OTHER + b"\n") == [ENTRY, OTHER]
    assert raws(ENTRY + b" " + OTHER + b"\n") == [ENTRY, OTHER]


def test_a_record_behind_a_torn_one_is_recovered_and_the_torn_bytes_are_kept() -> None:
    problem, record = parsed(TORN + ENTRY + b"\n").items
    assert isinstance(problem, Problem)
    assert isinstance(record, Record)
    assert (problem.kind, problem.raw) == ("FILE_JOINED_RECORDS", TORN + ENTRY)
    assert record.raw == ENTRY


def test_blocks_inside_a_torn_record_are_no_records() -> None:
    assert raws(TORN + b"\n") == []
    assert raws(TORN) == []


def test_a_record_before_a_torn_one_is_recovered() -> None:
    assert raws(ENTRY + TORN + b"\n") == [ENTRY]
    assert kinds(ENTRY + TORN + b"\n") == ["FILE_JOINED_RECORDS"]


def test_a_torn_tail_is_not_settled() -> None:
    answer = parsed(TORN)
    (problem,) = answer.items
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.raw) == ("FILE_TRUNCATED_TAIL", TORN)
    assert answer.end == BEGINNING


def test_whole_records_before_a_torn_tail_are_settled() -> None:
    answer = parsed(ENTRY + TORN)
    assert raws(ENTRY + TORN) == [ENTRY]
    assert kinds(ENTRY + TORN) == ["FILE_TRUNCATED_TAIL"]
    assert answer.end == Position(len(ENTRY), 1, begun=True)


def test_a_scalar_at_the_end_may_yet_go_on() -> None:
    assert kinds(b"12") == ["FILE_TRUNCATED_TAIL"]
    assert parsed(b"12").end == BEGINNING


def test_a_last_record_without_line_end_is_whole() -> None:
    assert raws(ENTRY) == [ENTRY]
    assert kinds(ENTRY) == []


def test_what_follows_a_record_on_a_begun_line_is_called_joined() -> None:
    start = Position(len(ENTRY), 1, begun=True)
    (line,) = lines([OTHER + b"\n"], start)
    problem, record = parse(line).items
    assert isinstance(problem, Problem)
    assert problem.kind == "FILE_JOINED_RECORDS"
    assert record == Record(1, _value(OTHER), OTHER)
    (line,) = lines([b"\n"], start)
    assert parse(line) == Parsed((), Position(len(ENTRY) + 1, 2))


def test_bytes_that_are_no_utf8_are_shown_as_replaced_and_kept_as_they_are() -> None:
    raw = b'{"type":"custom","text":"caf\xe9","timestamp":"t"}'
    problem, record = parsed(raw + b"\n").items
    assert isinstance(problem, Problem)
    assert isinstance(record, Record)
    assert problem.kind == "FILE_BAD_ENCODING"
    assert (record.value["text"], record.raw) == ("caf\ufffd", raw)


def test_a_replacement_character_that_was_written_is_no_bad_encoding() -> None:
    assert kinds('{"text":"\ufffd","half":"\\ud800"}\n'.encode()) == []


def test_lone_surrogates_survive() -> None:
    (record,) = parsed(b'{"text":"\\ud83d","nul":"\\u0000"}\n').items
    assert isinstance(record, Record)
    assert record.value == {"text": "\ud83d", "nul": "\x00"}


def test_a_giant_line_is_named_and_kept() -> None:
    raw = b'{"text":"' + b"x" * GIANT_LINE_CHARS + b'"}'
    assert kinds(raw + b"\n") == ["FILE_GIANT_LINE"]
    assert raws(raw + b"\n") == [raw]
    assert kinds(ENTRY + raw + b"\n") == ["FILE_GIANT_LINE", "FILE_JOINED_RECORDS"]


def test_nesting_without_end_is_refused_and_kept() -> None:
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    (problem,) = parsed(deep + b"\n").items
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.raw) == ("FILE_BAD_LINE", deep)
    assert "nested too deeply" in problem.message


@pytest.mark.parametrize("hostile", [b'{"type":', b'{"type":"', b'{"type":1}x'])
def test_a_line_made_to_be_slow_is_not(hostile: bytes) -> None:
    begun = time.monotonic()
    parsed(hostile * 100_000 + b"\n")
    assert time.monotonic() - begun < 5


@given(st.binary(max_size=200))
def test_no_line_raises_and_every_byte_that_means_something_is_kept(data: bytes) -> None:
    data = data.replace(b"\n", b"")
    for line in lines([data + b"\n"]):
        kept = b"".join(item.raw for item in parse(line).items)
        assert len(kept) >= len(data.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n\x00"))
