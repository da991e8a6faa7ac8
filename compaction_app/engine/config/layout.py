"""Where does each value of a JSON5 text stand? For edits that leave everything else as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from compaction_app.engine.config.syntax import IGNORED_KEY, ConfigSyntaxError, parse_config

_TOKEN: Final = re.compile(
    r"""(?P<space>[\s\ufeff]+)"""
    r"""|(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)"""
    r"""|(?P<mark>[{}\[\]:,])"""
    r"""|(?P<word>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s\ufeff{}\[\]:,"'/]+)""",
    re.DOTALL,
)


class NoLayout(ValueError):
    """The text cannot be taken apart."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value from ``start`` up to ``end``; ``members`` and ``items`` are those of an object or array."""

    start: int
    end: int
    opens: str = ""
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    @property
    def children(self) -> tuple[Member | Node, ...]:
        return self.members or self.items


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object, from its key up to the end of its value."""

    key: str
    start: int
    key_end: int
    value: Node

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True, slots=True)
class Token:
    start: int
    end: int
    kind: str
    text: str


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Marks, words and comments between two places; white space is passed over.

    Raises:
        NoLayout: at the first place that is none of these.
    """
    end = len(text) if end is None else end
    while start < end:
        match = _TOKEN.match(text, start, end)
        if match is None or match.end() == start:
            raise NoLayout(f"unexpected text at {start}")
        if match.lastgroup != "space":
            yield Token(start, match.end(), match.lastgroup or "", match[0])
        start = match.end()


def layout(text: str) -> Node:
    """The places of everything in a text that ``parse_config`` accepts.

    Raises:
        NoLayout: for any other text, and for one nested too deeply.
    """
    reader = _Reader(text)
    try:
        return reader.value(reader.next())
    except RecursionError as error:
        raise NoLayout("nested too deeply") from error


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = (token for token in tokens(text) if token.kind != "comment")

    def next(self) -> Token:
        found = next(self._tokens, None)
        if found is None:
            raise NoLayout("the text ends too early")
        return found

    def value(self, token: Token) -> Node:
        if token.kind == "word":
            return Node(token.start, token.end)
        if token.text == "{":
            return self._object(token)
        return self._array(token) if token.text == "[" else _refuse(token)

    def _object(self, opening: Token) -> Node:
        members: list[Member] = []
        token = self.next()
        while token.text != "}":
            if token.kind != "word" or self.next().text != ":":
                _refuse(token)
            key, value = token, self.value(self.next())
            members.append(Member(_key(key.text), key.start, key.end, value))
            token = self.next()
            if token.text == ",":
                token = self.next()
            elif token.text != "}":
                _refuse(token)
        return Node(opening.start, token.end, "{", tuple(members))

    def _array(self, opening: Token) -> Node:
        items: list[Node] = []
        token = self.next()
        while token.text != "]":
            items.append(self.value(token))
            token = self.next()
            if token.text == ",":
                token = self.next()
            elif token.text != "]":
                _refuse(token)
        return Node(opening.start, token.end, "[", (), tuple(items))


def _key(text: str) -> str:
    """A key as the parser reads it."""
    try:
        return next(iter(parse_config(f"{{{text}:0}}")), IGNORED_KEY)
    except ConfigSyntaxError as error:
        raise NoLayout(str(error)) from error


def _refuse(token: Token) -> NoReturn:
    raise NoLayout(f"unexpected {token.text!r} at {token.start}")
