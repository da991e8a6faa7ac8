"""How a text falls into sentences that can be quoted one by one, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compaction_app.summarisers.extraction.cues import Kind, kind_of_heading
from sessions_app.tokens import javascript as js

MAX_SENTENCE = 320
"""Characters of a quoted sentence; what is longer ends in an ellipsis."""

ELLIPSIS = "…"

_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<text>.+)")
_LABEL = re.compile(r"\s*[*_]{0,2}(?P<text>[^:：]{2,60})[:：][*_]{0,2}\s*\Z")
_MARK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+|>\s?)*(?:\[(?P<box>[ xX])\]\s+)?")
_RULE = re.compile(r"[\s|:=_*+-]*\Z")
_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[。！？；])\s*")
_LETTERS = re.compile(r"[^\W\d_]")
_SPACES = re.compile(f"{js.SPACE_CLASS}+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or line; ``kind`` where the heading above it, or a box before it, says what it is."""

    text: str
    kind: Kind | None = None


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text without its code blocks, headings, rules and list marks."""
    for line in lines(text):
        start = 0
        for end in _END.finditer(line.text):
            yield from _quotable(line.text[start : end.start()], line.kind)
            start = end.end()
        yield from _quotable(line.text[start:], line.kind)


def lines(text: str) -> Iterator[Sentence]:
    """The lines a text says something in, whole and without their list marks."""
    kind: Kind | None = None
    fenced = False
    for match in _LINE.finditer(text):
        line = match[0]
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or _RULE.match(line[:MAX_SENTENCE]):
            continue
        elif (heading := _heading(line)) is not None:
            kind = kind_of_heading(heading["text"])
        else:
            yield _of_line(line, kind)


def _heading(line: str) -> re.Match[str] | None:
    """A heading, or a short line that ends in a colon and so stands above others like one."""
    start = line[:MAX_SENTENCE]
    return _HEADING.match(start) or _LABEL.match(line if start == line else "")


def _of_line(line: str, kind: Kind | None) -> Sentence:
    mark = _MARK.match(line)
    if mark is None:
        return Sentence(line, kind)
    if mark["box"]:
        kind = "todos" if mark["box"] == " " else "done"
    return Sentence(line[mark.end() :], kind)


def _quotable(text: str, kind: Kind | None) -> Iterator[Sentence]:
    if _LETTERS.search(text):
        yield Sentence(clipped(text), kind)


def clipped(text: str, limit: int = MAX_SENTENCE) -> str:
    """The text on one line, at most ``limit`` characters, cut between words where there are any."""
    flat = js.trim(_SPACES.sub(" ", text[: 4 * limit]))
    if len(flat) <= limit and len(text) <= 4 * limit:
        return flat
    cut = flat[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return js.trim_end(cut if space < 0 else cut[:space]) + ELLIPSIS


_KEY = re.compile(r"\w+")


def key_of(text: str) -> str:
    """By what two quotes count as the same: their letters and digits, however they are marked."""
    return "".join(_KEY.findall(text.casefold()))
