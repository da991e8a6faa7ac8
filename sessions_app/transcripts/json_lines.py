"""Reading JSON as the recorded sessions were written: what counts as JSON, and lines that are not.

A fast parser is asked first. Where it says no, the standard one decides, because the fast one refuses
two things that JavaScript accepts: escaped lone surrogates, and nesting deeper than it likes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import orjson

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


class NotJson(ValueError):
    """The text is not one JSON value."""


def parse_json(text: str | bytes) -> Json:
    """The JSON value of ``text``; bytes are UTF-8, broken sequences become U+FFFD.

    Raises:
        NotJson: for anything else, also a value nested too deeply to be read.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def json_bytes(value: Json) -> bytes | None:
    """A value as one line of JSON; None where it is nested too deeply to be written."""
    try:
        return orjson.dumps(value)
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        pass
    try:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
    except (RecursionError, ValueError):
        return None


def whole_number(digits: str) -> int | float:
    """Digits as a number; beyond what a double holds only the size matters."""
    return int(digits) if len(digits) <= 300 else float(digits)


def _refuse(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


def json_lines(lines: Iterable[str | bytes]) -> Iterator[Json]:
    """The values of the lines that are JSON; blank and broken lines are passed over."""
    loads = orjson.loads
    for line in lines:
        if not line:
            continue
        try:
            value = loads(line)
        except orjson.JSONDecodeError:
            try:
                value = parse_json(line)
            except NotJson:
                continue
        yield value


def parse_json_lines(content: str | bytes) -> list[Json]:
    """The values of a whole file's lines that are JSON (spec budgets 7.4); lines end at LF."""
    if isinstance(content, bytes):
        return list(json_lines(content.split(b"\n")))
    return list(json_lines(content.split("\n")))
