"""A stretch of a text that is a secret, and what keeps a rule from taking others for one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

RUN_CHARS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
LONGEST_RUN: Final = 1_200
"""What stands in a longer run of base64 is data: an image, a font, a signature of a model's thinking."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` (code points) of a text, and what kind of secret they are."""

    start: int
    end: int
    kind: str


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a token ends where its rule says, and is no part of a long run of data."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if (before.isascii() and before.isalnum()) or (after.isascii() and after.isalnum()):
        return False
    return not is_in_data(text, start, end)


def is_in_data(text: str, start: int, end: int) -> bool:
    """Whether the run of base64 characters around a place is longer than any secret."""
    low, high = start, end
    while low > 0 and text[low - 1] in RUN_CHARS and end - low <= LONGEST_RUN:
        low -= 1
    while high < len(text) and text[high] in RUN_CHARS and high - low <= LONGEST_RUN:
        high += 1
    return high - low > LONGEST_RUN


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; of two that overlap one with both their stretches and the first one's kind."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if found and span.start < found[-1].end:
            last = found[-1]
            found[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            found.append(span)
    return found
