"""Lines of a file to JSON records: torn, joined and unreadable lines become problems, never errors.

The reader takes chunks of bytes and holds one line at a time, so memory stays flat whatever the size
of the file. Every line ends up in a record or, byte for byte, in a problem.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from sessions_app.transcript import Problem

GIANT_LINE_CHARS = 1_000_000
"""From this length a line is reported as giant (it is kept all the same)."""

_BOM = b"\xef\xbb\xbf"
_RECORD_START = '{"type":'


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line end. ``end`` is the offset in bytes just behind the line end."""

    number: int
    data: bytes
    end: int
    terminated: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of the file with the bytes it was read from."""

    line: int
    value: dict[str, Any]
    raw: bytes


def lines(chunks: Iterable[bytes], first_number: int = 1, offset: int = 0) -> Iterator[Line]:
    """Split chunks at LF; the last line may lack its line end.

    ``first_number`` and ``offset`` say where in the file the first chunk starts.
    """
    number = first_number
    held: list[bytes] = []
    for chunk in chunks:
        start = 0
        while (at := chunk.find(b"\n", start)) >= 0:
            held.append(chunk[start : at + 1])
            data = b"".join(held)
            held.clear()
            offset += len(data)
            yield Line(number, data[:-1], offset, terminated=True)
            number += 1
            start = at + 1
        if start < len(chunk):
            held.append(chunk[start:])
    if held:
        data = b"".join(held)
        yield Line(number, data, offset + len(data), terminated=False)


def records(line: Line) -> Iterator[Record | Problem]:
    """The JSON objects on one line, and what was wrong with it. A blank line gives nothing."""
    data = line.data.removeprefix(_BOM) if line.number == 1 else line.data
    data = data.strip(b" \t\r\n\x00")
    if not data:
        return
    if len(data) >= GIANT_LINE_CHARS:
        yield Problem(
            line.number,
            "FILE_GIANT_LINE",
            f"The line holds {len(data):,} bytes. It was kept.",
        )
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        yield from _recovered(line, data)
        return
    yield _record(line.number, value, data)


def _record(number: int, value: Any, raw: bytes) -> Record | Problem:
    if isinstance(value, dict):
        return Record(number, value, raw)
    return Problem(
        number,
        "FILE_BAD_LINE",
        f"The line holds {_kind(value)} where an object is expected. Its bytes were kept.",
        raw,
    )


def _recovered(line: Line, data: bytes) -> Iterator[Record | Problem]:
    """What the fast parser refused: lone surrogates, bad bytes, several records, torn ones."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        yield Problem(
            line.number,
            "FILE_BAD_ENCODING",
            "The line is not valid UTF-8; unreadable bytes are shown as U+FFFD.",
            line.data,
        )
    found, junk, fault = _scan(text)
    if found and (junk or len(found) > 1):
        yield Problem(
            line.number,
            "FILE_JOINED_RECORDS",
            f"{_count(len(found), 'readable record')} on one line"
            + (" beside bytes of a torn one" if junk else "")
            + ". The runtime drops such a line; every readable record was kept.",
            line.data if junk else b"",
        )
    for value, raw in found:
        yield _record(line.number, value, raw.encode("utf-8", "surrogatepass"))
    if found:
        return
    if line.terminated:
        kind, what = "FILE_BAD_LINE", "The line is not JSON"
    else:
        kind, what = "FILE_TRUNCATED_TAIL", "The last line breaks off"
    yield Problem(line.number, kind, f"{what} ({fault}). Its bytes were kept.", line.data)


def _scan(text: str) -> tuple[list[tuple[Any, str]], bool, str]:
    """Every record in ``text``, whether other bytes lay between them, and the first fault.

    After a torn record the scan goes on at the next place where a record could start.
    """
    found: list[tuple[Any, str]] = []
    at, junk, fault = 0, False, ""
    while at < len(text):
        if text[at] in " \t\r":
            at += 1
            continue
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            fault = fault or _fault(error)
            value, end = None, at
        if end > at and (isinstance(value, dict) or (not found and end == len(text))):
            found.append((value, text[at:end]))
            at = end
            continue
        junk = True
        at = text.find(_RECORD_START, at + 1)
        if at < 0:
            break
    return found, junk, fault


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _fault(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"column {error.colno}: {error.msg}"
    return str(error)


def _kind(value: object) -> str:
    names = {str: "a string", list: "a list", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
