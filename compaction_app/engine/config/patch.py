"""Edits in the text of ``openclaw.json``: comments, order and style of everything else stay.

A patch is only given out when the new text parses to exactly the configuration that the edits mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from compaction_app.engine.config.edits import (
    Edit,
    Place,
    Put,
    Remove,
    Rename,
    applied,
    fits,
    nested,
)
from compaction_app.engine.config.layout import Node, NoLayout, layout, tokens
from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.setting import showable

_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class CannotPatch(ValueError):
    """The edits cannot be written into this text without touching anything else."""


def patched(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits written in, in order.

    Raises:
        CannotPatch: where the result would not be exactly what was meant.
    """
    listed = list(edits)
    try:
        meant = applied(parse_config(text), listed)
        result = text
        for edit in listed:
            result = _edited(result, edit)
        got = parse_config(result)
    except (ConfigSyntaxError, NoLayout) as error:
        raise CannotPatch(str(error)) from error
    if json.dumps(got) != json.dumps(meant):
        raise CannotPatch("the patched text would not say what was meant")
    return result


def _edited(text: str, edit: Edit) -> str:
    root = layout(text)
    match edit:
        case Put():
            return _put(text, root, edit.place, edit.value)
        case Remove():
            shorter = text
            while holder := _at(root, edit.place[:-1]):  # a key may stand there several times
                text, shorter = shorter, _without(shorter, holder, edit.place[-1])
                if text == shorter:
                    break
                root = layout(shorter)
            return shorter
        case Rename():
            holder = _at(root, edit.place[:-1])
            members = holder.members if holder else ()
            is_taken = any(member.key == edit.key for member in members)
            named = [m for m in members if m.key == edit.place[-1] and not is_taken]
            for member in reversed(named):
                is_quoted = text[member.start] in "\"'"
                text = _replace(text, member.start, member.key_end, _key(edit.key, is_quoted))
            return text


def _at(node: Node, place: Place) -> Node | None:
    for part in place:
        inner = _child(node, part)
        if inner is None:
            return None
        node = inner
    return node


def _child(node: Node, part: str | int) -> Node | None:
    """The value of a key, of several the last one, or the item at a position."""
    if isinstance(part, int):
        return node.items[part] if part < len(node.items) else None
    return next((m.value for m in reversed(node.members) if m.key == part), None)


def _put(text: str, node: Node, place: Place, value: Any) -> str:
    for depth, part in enumerate(place):
        rest = place[depth + 1 :]
        holder: Any = {"{": {}, "[": [0] * len(node.items)}.get(node.opens)
        if not fits(part, holder):
            return _replace(
                text, node.start, node.end, _rendered(text, node, nested(place[depth:], value))
            )
        inner = _child(node, part)
        if inner is None:
            return _insert(text, node, part, nested(rest, value))
        node = inner
    return _replace(text, node.start, node.end, _rendered(text, node, value))


def _insert(text: str, node: Node, part: str | int, value: Any) -> str:
    """A new last member of an object, or item of an array."""
    is_long = "\n" in text[node.start : node.end] or (not node.children and "\n" in text)
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, node.children[-1].start) if node.children else outer + _unit(text)
    written = _value(value, inner, _unit(text), _quotes(text, node), is_long)
    if isinstance(part, str):
        written = f"{_key(part, _quotes(text, node))}: {written}"
    after, comma, tail = _end_of(text, node)
    more = "," if comma is not None else ""
    if not is_long:
        gap = "" if not node.children else " " if more else ", "
        at = comma if comma is not None else after
        return _replace(text, at, at, f"{gap}{written}{more}")
    lead = f"\n{inner}{written}{more}"
    if "\n" not in text[tail : node.end]:
        lead += f"\n{outer}"
        text = text[:tail] + text[tail : node.end].lstrip() + text[node.end :]
    text = _replace(text, tail, tail, lead.replace("\n", _newline(text)))
    return text if more or not node.children else _replace(text, after, after, ",")


def _end_of(text: str, node: Node) -> tuple[int, int | None, int]:
    """The end of the last child, that of its comma if it has one, and that of the last thing inside."""
    after = node.children[-1].end if node.children else node.start + 1
    comma, tail = None, after
    for token in tokens(text, after, node.end - 1):
        comma = token.end if token.text == "," else comma
        tail = token.end
    return after, comma, tail


def _without(text: str, holder: Node, part: str | int) -> str:
    """The text without one member; comments around it stay."""
    members = holder.members
    number = next((n for n in reversed(range(len(members))) if members[n].key == part), None)
    if number is None:
        return text
    member = members[number]
    limit = members[number + 1].start if number + 1 < len(members) else holder.end - 1
    spans = [(member.start, member.end)]
    comma = _comma(text, member.end, limit)
    if comma is None and number:
        comma = _comma(text, members[number - 1].end, member.start)
    if comma is not None:
        spans.append((comma, comma + 1))
    for start, end in sorted(spans, reverse=True):
        text = _replace(text, start, end, "")
    before = comma is not None and comma < member.start
    return _tidied(text, member.start - before)


def _comma(text: str, start: int, end: int) -> int | None:
    return next((t.start for t in tokens(text, start, end) if t.text == ","), None)


def _tidied(text: str, at: int) -> str:
    """The text without the line at a place when nothing is left on it, else without its gap."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    if start and end >= 0 and not text[start:end].strip():
        return text[:start] + text[end + 1 :]
    rest = text[at:]
    gap = len(rest) - len(rest.lstrip(" "))
    return text[:at] + text[at + gap :] if text[:at].endswith((" ", "{")) else text


def _rendered(text: str, node: Node, value: Any) -> str:
    indent = _indent_at(text, node.start)
    written = _value(value, indent, _unit(text), _quotes(text, node), "\n" in text)
    return written.replace("\n", _newline(text))


def _value(value: Any, indent: str, unit: str, quoted: bool, is_long: bool) -> str:
    if not isinstance(value, dict) or not value:
        return _json(value)
    pairs = [
        f"{_key(key, quoted)}: {_value(item, indent + unit, unit, quoted, is_long)}"
        for key, item in value.items()
    ]
    if not is_long:
        return "{" + ", ".join(pairs) + "}"
    inside = f",\n{indent}{unit}".join(pairs)
    return f"{{\n{indent}{unit}{inside}\n{indent}}}"


def _key(key: str, quoted: bool) -> str:
    return key if not quoted and _NAME.match(key) else _json(key)


def _json(value: Any) -> str:
    """A value as JSON; halves of surrogate pairs, which no file holds, as escapes."""
    written = json.dumps(value, ensure_ascii=False)
    return written if showable(written) == written else json.dumps(value)


def _quotes(text: str, node: Node) -> bool:
    """Whether keys are quoted, by the object itself, else by the whole file."""
    if node.members:
        return text[node.members[-1].start] in "\"'"
    root = layout(text)
    return not root.members or text[root.members[0].start] in "\"'"


def _indent_at(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _replace(text: str, start: int, end: int, by: str) -> str:
    return text[:start] + by + text[end:]
