"""How a text falls into sentences that can be quoted one by one, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from compaction_app.engine.wording.cues import (
    Kind,
    kind_of_heading,
    kind_of_sentence,
)
from sessions_app.tokens import javascript as js

MAX_SENTENCE = 320
"""Characters of a quoted sentence; what is longer ends in an ellipsis."""

ELLIPSIS = "…"

_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<text>.+)")
_LABEL = re.compile(r"\s*[*_]{0,2}(?P<text>[^:：\s][^:：]{1,80})[:：][*_]{0,2}\s*\Z")
_LISTED = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+|>\s?)+(?:\[(?P<box>[ xX])\]\s+)?")
_RULE = re.compile(r"[\s|:=_*+-]*\Z")
_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[。！？；])\s*")
_LETTERS = re.compile(r"[^\W\d_]")
_SPACES = re.compile(f"{js.SPACE_CLASS}+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or line; ``kind`` where the heading above it, or a box before it, says what it is.

    ``start`` and ``end`` are where it stands in the text it was taken from; what a line above says of
    it stands before it in ``text``, but not there.
    """

    text: str
    kind: Kind | None = None
    start: int = 0
    end: int = 0


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text without its code blocks, headings, rules and list marks."""
    for line in lines(text):
        # What a line above says stands before the line's own text.
        said_above = len(line.text) - (line.end - line.start)
        start = 0
        for end in _END.finditer(line.text):
            yield from _quotable(line, said_above, start, end.start())
            start = end.end()
        yield from _quotable(line, said_above, start, len(line.text))


def lines(text: str) -> Iterator[Sentence]:
    """The lines a text says something in, whole and without their list marks.

    What a short line before a list says of its items ("Never do these:") stands before each of them.
    """
    above: Kind | None = None
    label: re.Match[str] | None = None
    fenced = False
    for match in _LINE.finditer(text):
        line = match[0]
        start = line[:MAX_SENTENCE]
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or _RULE.match(start):
            continue
        elif (heading := _HEADING.match(start)) is not None:
            above, label = kind_of_heading(heading["text"]), None
        elif len(line) < MAX_SENTENCE and (found := _LABEL.match(line)) is not None:
            label = found
        elif (mark := _LISTED.match(line)) is not None:
            text, kind = _item(line, mark, above, label)
            yield Sentence(text, kind, match.start() + mark.end(), match.end())
        else:
            label = None
            yield Sentence(line, above, match.start(), match.end())


def _item(
    line: str, mark: re.Match[str], above: Kind | None, label: re.Match[str] | None
) -> tuple[str, Kind | None]:
    text = line[mark.end() :]
    if mark["box"]:
        return text, "todos" if mark["box"] == " " else "done"
    if label is None:
        return text, above
    if (kind := kind_of_heading(label["text"])) is not None:
        return text, kind
    kind = _kind_of_label(label["text"])
    return (text, above) if kind is None else (f"{label[0]} {text}", kind)


@lru_cache(maxsize=2_000)
def _kind_of_label(label: str) -> Kind | None:
    return kind_of_sentence(label, from_user=True)


def _quotable(line: Sentence, said_above: int, start: int, end: int) -> Iterator[Sentence]:
    text = line.text[start:end]
    if _LETTERS.search(text):
        first = line.start + max(start - said_above, 0)
        yield Sentence(clipped(text), line.kind, first, line.start + max(end - said_above, 0))


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
