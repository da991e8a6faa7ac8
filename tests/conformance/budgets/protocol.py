"""How the cases of the section "budgets" write arguments and results (spec budgets 0)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js

LONGEST_PLAIN_TEXT: Final = 1200

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class _Missing:
    """A value that is not there; keys that hold it are left out."""


_MISSING: Final = _Missing()


def expand(value: Any) -> Any:
    """The value that an argument's generators describe; a missing element of a list is ``None``."""
    expanded = _expand(value)
    return None if expanded is _MISSING else expanded


def _expand(value: Any) -> Any:
    if isinstance(value, list):
        return [element for item in value for element in _elements(item)]
    if not isinstance(value, dict):
        return value
    match list(value.items()):
        case [("$repeat", [text, count])]:
            return js.concat([_expand(text)] * count)
        case [("$concat", parts)]:
            return js.concat(_expand(part) for part in parts)
        case [("$num", name)]:
            return float(name)
        case [("$undef", True)]:
            return _MISSING
    pairs = ((key, _expand(item)) for key, item in value.items())
    return {key: item for key, item in pairs if item is not _MISSING}


def _elements(item: Any) -> list[Any]:
    match item:
        case {"$fill": [element, count]} if len(item) == 1:
            return [expand(element) for _ in range(count)]
    return [expand(item)]


def encode(value: Any) -> Any:
    """A result as the cases write it; long texts by their hash, numbers JSON lacks by name."""
    if isinstance(value, str):
        return _encode_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"$num": js.number_text(value)}
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def _encode_text(text: str) -> Any:
    length = js.utf16_len(text)
    if length <= LONGEST_PLAIN_TEXT:
        return text
    data = _LONE_SURROGATE.sub("\ufffd", js.concat((text,))).encode()
    return {"$sha256": hashlib.sha256(data).hexdigest(), "utf16Length": length}


def present(**fields: Any) -> dict[str, Any]:
    """An object without the keys whose value is missing."""
    return {key: item for key, item in fields.items() if item is not None}
