"""Lines of a file to JSON records: torn, joined and unreadable lines become problems, never errors.

Every line ends up in a record or, byte for byte, in a problem. Each line tells up to where the file is
settled, so that a grown file can be read on from there. A block of sound lines is read in one go; as
soon as one of its lines is not, the block is read line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from sessions_app.importers.blocks import Block, Line, Position
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import whole_number
from sessions_app.transcripts.transcript import Problem

GIANT_LINE_CHARS = 1_000_000
"""From this length a line is reported as giant (it is kept all the same)."""

GIANT_FILE_BYTES = 32 << 20
"""From this size a file is reported as giant."""

MOST_RESTARTS = 1000
"""So many times the search for a readable record on a damaged line starts again."""

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x00"
_RECORD_START = '{"type":'


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant, parse_int=whole_number)


class Record(NamedTuple):
    """One JSON object of the file with the bytes it was read from."""

    line: int
    value: dict[str, Any]
    raw: bytes


class Parsed(NamedTuple):
    """What a line holds in records and problems, and the position up to which it is settled.

    A torn tail is not: it is read again once it is complete.
    """

    items: tuple[Record | Problem, ...]
    end: Position


def giant_file(size: int) -> Problem | None:
    """What there is to say of a file of ``size`` bytes, if anything."""
    if size < GIANT_FILE_BYTES:
        return None
    return Problem(0, "FILE_GIANT", f"The file holds {size / 2**20:,.0f} MB.")


def parse_block(block: Block) -> tuple[list[dict[str, Any]], list[bytes]] | None:
    """The records of a block and their bytes; none unless every line is one JSON object and no more
    can be said of it. The first line of a file and an unfinished last one are never read this way.
    """
    if not block.terminated or block.start.begun or block.start.offset == 0:
        return None
    raws = [line.strip(_BLANK) for line in block.lines]
    try:
        values = list(map(orjson.loads, raws))
    except orjson.JSONDecodeError:
        return None
    if set(map(type, values)) != {dict} or max(map(len, raws)) >= GIANT_LINE_CHARS:
        return None
    return values, raws


def parse(line: Line) -> Parsed:
    """The JSON objects on one line, and what was wrong with it. A blank line gives nothing."""
    number = line.start.line
    data = line.data.removeprefix(_BOM) if line.start.offset == 0 else line.data
    body = data.strip(_BLANK)
    if not body:
        return Parsed((), line.end)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _recovered(line, data)
    if not line.terminated and not isinstance(value, dict):  # 12 may yet become 123
        return _torn(line, data, [], "no object")
    problems = _giant(number, body)
    if line.start.begun:
        problems.append(_joined(line, 1, junk=False))
    return Parsed((*problems, _record(number, value, body)), line.end)


def _record(number: int, value: Any, raw: bytes) -> Record | Problem:
    if isinstance(value, dict):
        return Record(number, value, raw)
    return Problem(
        number,
        "FILE_BAD_LINE",
        f"The line holds {_kind(value)} where an object is expected. Its bytes were kept.",
        raw,
    )


def _giant(number: int, data: bytes) -> list[Problem]:
    """A line is giant by its characters; its bytes only tell that it may be."""
    chars = js.utf16_len(data.decode("utf-8", "replace")) if len(data) >= GIANT_LINE_CHARS else 0
    if chars < GIANT_LINE_CHARS:
        return []
    return [
        Problem(number, "FILE_GIANT_LINE", f"The line holds {chars:,} characters. It was kept.")
    ]


def _joined(line: Line, count: int, junk: bool) -> Problem:
    return Problem(
        line.start.line,
        "FILE_JOINED_RECORDS",
        f"{_count(count, 'readable record')} on one line"
        + (" beside bytes of a torn one" if junk else " with others" if line.start.begun else "")
        + ". The runtime drops such a line; every readable record was kept.",
        line.data if junk else b"",
    )


def _recovered(line: Line, data: bytes) -> Parsed:
    """What the fast parser refused: lone surrogates, bad bytes, several records, torn ones."""
    spans, junk, fault = _scan(data, line.terminated)
    if junk and not line.terminated:
        return _torn(line, data, spans, fault)
    number = line.start.line
    items: list[Record | Problem] = [*_giant(number, data)]
    if spans and (junk or line.start.begun or len(spans) > 1):
        items.append(_joined(line, len(spans), junk))
    items += _records(number, data, spans)
    if not spans:
        message = f"The line is not JSON ({fault}). Its bytes were kept."
        items.append(Problem(number, "FILE_BAD_LINE", message, line.data))
    return Parsed(tuple(items), line.end)


def _torn(line: Line, data: bytes, spans: list[tuple[int, int]], fault: str) -> Parsed:
    """The end of a file that may still be written to: the whole records count, the rest waits."""
    number = line.start.line
    settled = spans[-1][1] if spans else 0
    message = f"The last line breaks off ({fault}). Its bytes were kept."
    tail = Problem(number, "FILE_TRUNCATED_TAIL", message, data[settled:])
    offset = line.start.offset + len(line.data) - len(data) + settled
    end = Position(offset, number, begun=True) if spans else line.start
    return Parsed((*_records(number, data, spans), tail), end)


def _records(number: int, data: bytes, spans: list[tuple[int, int]]) -> Iterator[Record | Problem]:
    for start, end in spans:
        raw = data[start:end]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            yield Problem(
                number,
                "FILE_BAD_ENCODING",
                "The line is not valid UTF-8; unreadable bytes are shown as U+FFFD.",
            )
        yield _record(number, _decoder.decode(text), raw)


def _scan(data: bytes, terminated: bool) -> tuple[list[tuple[int, int]], bool, str]:
    """Where every record lies, whether other bytes lay between them, and the first fault.

    Read as Latin-1 every byte is one character, so places hold for the bytes, valid UTF-8 or not.
    After a torn record the scan goes on where the next could start; what lies there must look like
    an entry, for blocks inside the torn record begin alike. At the end of a file that may still be
    written to, it stops there: the bytes to come decide.
    """
    text = data.decode("latin-1")
    blank = _BLANK.decode()
    spans: list[tuple[int, int]] = []
    at, restarts, fault = 0, 0, ""
    while 0 <= at < len(text) and restarts < MOST_RESTARTS:
        if text[at] in blank:
            at += 1
            continue
        value, end = None, at
        try:
            value, end = _decoder.raw_decode(text, at)
        except RecursionError:
            return spans, True, fault or "nested too deeply"
        except ValueError as error:
            fault = fault or _fault(error)
        if isinstance(value, dict) and (not restarts or _is_entry(value)):
            spans.append((at, end))
            at = end
            continue
        fault = fault or "no object"
        restarts += 1
        at = text.find(_RECORD_START, max(at + 1, end)) if terminated else -1
    return spans, restarts > 0, fault


def _is_entry(value: dict[str, Any]) -> bool:
    """Whether an object found behind torn bytes is a record and no part of one."""
    return isinstance(value.get("type"), str) and "timestamp" in value


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _fault(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"column {error.colno}: {error.msg}"
    return str(error)


def _kind(value: object) -> str:
    names = {str: "a string", list: "a list", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
