"""What the forms have in common: reading fields with a clear fault, images, arguments of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import NotJson, parse_json

Json = dict[str, Any]
RAW_ARGUMENTS: Final = "argumentsText"
"""The text of a call's arguments where it is no plain JSON object, or is written in another way."""

_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)\Z", re.DOTALL)


class BadForm(ValueError):
    """A message that is not in the form it is said to be in; the text names the place."""


def text_field(owner: Mapping[str, Any], key: str, where: str) -> str:
    """A field that must be a text.

    Raises:
        BadForm: when it is none.
    """
    value = owner.get(key)
    if not isinstance(value, str):
        raise BadForm(f"{where}{key} must be a text.")
    return value


def objects(value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its place.

    Raises:
        BadForm: when it is no list, or holds something else.
    """
    if not isinstance(value, list):
        raise BadForm(f"{where} must be a text or a list.")
    for number, item in enumerate(value):
        place = f"{where}[{number}]."
        if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
            raise BadForm(f'{where}[{number}] must be an object with a "type".')
        yield place, item


def rest(owner: Mapping[str, Any], *known: str) -> Json:
    """The fields of an object that are not named."""
    return {key: value for key, value in owner.items() if key not in known}


def image_of_url(url: str) -> Json:
    """An image block for an address; one that carries its data is kept as data."""
    found = _DATA_URL.match(url)
    if found is None:
        return {"type": "image", "url": url}
    return {"type": "image", "data": found[2], "mimeType": found[1]}


def url_of_image(block: Mapping[str, Any]) -> str:
    """The address of an image block."""
    if isinstance(block.get("url"), str):
        return str(block["url"])
    return f"data:{block.get('mimeType', '')};base64,{block.get('data', '')}"


def call_block(identity: str, name: str, arguments: str) -> Json:
    """A call whose arguments came as a text."""
    block: Json = {"type": "toolCall", "id": identity, "name": name}
    try:
        value = parse_json(arguments)
    except NotJson:
        value = None
    if not isinstance(value, dict):
        return {**block, "arguments": {}, RAW_ARGUMENTS: arguments}
    if js.json_text(value) != arguments:
        return {**block, "arguments": value, RAW_ARGUMENTS: arguments}
    return {**block, "arguments": value}


def arguments_text(block: Mapping[str, Any]) -> str:
    """The arguments of a call as a text, as they came where that is known."""
    raw = block.get(RAW_ARGUMENTS)
    if isinstance(raw, str):
        return raw
    arguments = block.get("arguments", block.get("input"))
    return js.json_text({} if arguments is None else arguments)


def is_call(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in (
        "toolCall",
        "toolUse",
        "functionCall",
    )


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A stored message's content as blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []


def joined_text(blocks: list[Mapping[str, Any]], kind: str = "text") -> str:
    """The texts of all blocks of a kind, one after the other."""
    return "".join(str(b.get(kind, "")) for b in blocks if b.get("type") == kind)
