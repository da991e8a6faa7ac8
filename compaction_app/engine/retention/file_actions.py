"""What a tool call does to files: reads, creates, changes or deletes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

Action = Literal["read", "created", "changed", "deleted"]

PATH_KEYS: Final = ("path", "file_path", "filePath", "filename", "file", "notebook_path")
COMMAND_KEYS: Final = ("command", "cmd")
_DELETES = re.compile(r"delete|remove|unlink|trash|\brm\b", re.I)
_CREATES = re.compile(r"write|create|save", re.I)
CHANGES: Final = re.compile(
    "write|edit|patch|create|replace|delete|move|rename|insert|append", re.I
)
_READS = re.compile(r"read|view|open|cat\b|show|load", re.I)
_PARTS = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_REDIRECT = re.compile(r"(?<![0-9&>])(>>?)\s*([^\s;|&<>()]+)")
_TOOL = re.compile(
    r"(?:(?:sudo|time|nohup|git)\s+)*(?:rm|unlink|mv|cp|cat|head|tail|less|more|bat|nl|wc|touch|tee|sed)\b"
)
_MAX_COMMAND: Final = 20_000
_READERS: Final = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "wc"})
_CREATORS: Final = frozenset({"touch", "tee"})


def first_of(given: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of these arguments that is a text, "" without one."""
    values = (given.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), "")


def file_actions(name: str, given: Mapping[str, Any]) -> Iterator[tuple[str, Action]]:
    """The files that a call of a tool names, each with what is done to it."""
    if path := first_of(given, PATH_KEYS):
        action = _action(name)
        if action is not None:
            yield path, action
    elif command := first_of(given, COMMAND_KEYS)[:_MAX_COMMAND]:
        yield from _of_command(command)


def _action(name: str) -> Action | None:
    if _DELETES.search(name):
        return "deleted"
    if _CREATES.search(name) and "replace" not in name.lower():
        return "created"
    if CHANGES.search(name):
        return "changed"
    return "read" if _READS.search(name) else None


def _of_command(command: str) -> Iterator[tuple[str, Action]]:
    """What a line for the shell plainly does; what is quoted or nested is left alone."""
    if "<<" in command:
        command = command.partition("\n")[0]
    for part in _PARTS.split(command):
        for sign, path in _REDIRECT.findall(part):
            if not path.startswith(("/dev/", "$", '"', "'")):
                yield path, "changed" if sign == ">>" else "created"
        if _TOOL.match(part):
            yield from _of_words(_words(_REDIRECT.sub(" ", part)))


def _words(part: str) -> list[str]:
    try:
        words = shlex.split(part)
    except ValueError:
        return []
    while words and words[0] in ("sudo", "time", "nohup"):
        words = words[1:]
    return words[1:] if words[:1] == ["git"] and words[1:2] in (["rm"], ["mv"]) else words


def _of_words(words: Sequence[str]) -> Iterator[tuple[str, Action]]:
    if not words:
        return
    tool, named = words[0], [w for w in words[1:] if not w.startswith("-") and not w.isdigit()]
    if tool in ("rm", "unlink"):
        yield from ((path, "deleted") for path in named)
    elif tool in _CREATORS:
        yield from ((path, "created") for path in named)
    elif tool in _READERS:
        yield from ((path, "read") for path in named)
    elif tool == "mv" and len(named) == 2:
        yield named[0], "deleted"
        yield named[1], "created"
    elif tool == "cp" and len(named) == 2:
        yield named[1], "created"
    elif tool == "sed" and named:
        if any(word.startswith("-i") for word in words):
            yield named[-1], "changed"
        elif len(named) > 1:
            yield named[-1], "read"
