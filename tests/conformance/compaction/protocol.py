"""How the cases of the section "compaction" write arguments and results (spec compaction 0.1, 0.2)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessions_app.tokens import javascript as js

SHOWN_UNITS: Final = 120
SHORT_TEXT: Final = 200
"""From here on the texts of messages are shown by their hash."""
LONG_TEXT: Final = 900
"""From here on other texts are."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class _Undefined:
    """A value that is not there; keys that hold it are left out."""


_UNDEFINED: Final = _Undefined()


def expand(value: Any) -> Any:
    """The value that an argument's generators describe; an undefined element becomes ``None``."""
    expanded = _expand(value)
    return None if expanded is _UNDEFINED else expanded


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
        case [("$lines", [template, first, last])]:
            return "\n".join(_filled(template, i) for i in range(first, last + 1))
        case [("$number", name)]:
            return float(name)
        case [("$undefined", 1)]:
            return _UNDEFINED
    pairs = ((key, _expand(item)) for key, item in value.items())
    return {key: item for key, item in pairs if item is not _UNDEFINED}


def _elements(item: Any) -> list[Any]:
    match item:
        case {"$many": [count, template]} if len(item) == 1:
            return [expand(_filled(template, i)) for i in range(count)]
    return [expand(item)]


def _filled(template: Any, number: int) -> Any:
    if isinstance(template, str):
        return template.replace("{i}", str(number))
    if isinstance(template, list):
        return [_filled(item, number) for item in template]
    if isinstance(template, dict):
        return {key: _filled(item, number) for key, item in template.items()}
    return template


def encode_number(value: float) -> Any:
    """A number; one that JSON lacks by its name."""
    return value if math.isfinite(value) else js.number_text(value)


def compact_text(text: str, limit: int = LONG_TEXT) -> Any:
    """A text as it is up to ``limit`` units, beyond by its length, hash and edges."""
    length = js.utf16_len(text)
    if length <= limit:
        return text
    data = _LONE_SURROGATE.sub("\ufffd", js.concat((text,))).encode()
    return {
        "$text": {
            "len": length,
            "sha16": hashlib.sha256(data).hexdigest()[:16],
            "head": js.utf16_slice(text, 0, SHOWN_UNITS),
            "tail": js.utf16_slice(text, -SHOWN_UNITS),
        }
    }


def message_text(message: Mapping[str, Any]) -> str:
    """The text blocks of a message, joined by ``|``."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content or () if isinstance(block, Mapping)]
    return "|".join(block["text"] for block in blocks if block.get("type") == "text")


def positions(messages: Iterable[Any], given: Sequence[Any]) -> list[Any]:
    """Messages as indices into the given list; what is not in it as an object of its own."""
    places = {id(message): index for index, message in enumerate(given)}
    return [places[id(m)] if id(m) in places else _made(m) for m in messages]


def _made(message: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: message[key] for key in ("toolCallId", "toolName", "isError") if key in message}
    text = compact_text(message_text(message), SHORT_TEXT)
    return {"new": message.get("role"), **fields, "text": text}


def called_with(messages: Iterable[Any], given: Sequence[Any]) -> list[Any]:
    """The messages of a model call: indices, or role and text of those that were made for it."""
    places = {id(message): index for index, message in enumerate(given)}
    return [
        places[id(m)]
        if id(m) in places
        else {"role": m.get("role"), "text": compact_text(message_text(m), SHORT_TEXT)}
        for m in messages
    ]
