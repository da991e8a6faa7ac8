"""All secrets of a text, and of the texts of a JSON value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from sessions_app.secret_texts.assignments import (
    assigned_in,
    emails_in,
    is_field_secret,
    names_secret,
)
from sessions_app.secret_texts.library import known_in
from sessions_app.secret_texts.shapes import shapes_in
from sessions_app.secret_texts.spans import Span, disjoint

RULES_VERSION: Final = 1
"""Counted up when the rules find other things: then what is stored is looked through again."""

SHORTEST: Final = 6
"""Characters of the shortest secret, but for passwords in addresses."""

LONG_NAME: Final = 16
MOST_DEEP: Final = 200
BETWEEN: Final = "\n\x00\n"
"""Stands between texts that are looked through as one; no rule reaches over it."""


def secrets_in(text: str, *, emails: bool = False, is_cut: bool = False) -> list[Span]:
    """The secrets of a text in order, none overlapping another.

    ``emails``: addresses are secrets too. ``is_cut``: the text is the beginning of a longer one, so that
    at its end the beginning of a secret counts.

    Literals are looked for in a copy with one byte for each character: one emoji makes a text of four.
    """
    if len(text) < SHORTEST:
        return []
    plain = text if text.isascii() else text.encode("ascii", "replace").decode("ascii")
    lower = plain.lower()
    found = [*shapes_in(text, plain, is_cut=is_cut), *known_in(text, plain, lower)]
    found += assigned_in(text, lower, is_cut=is_cut)
    if emails:
        found += emails_in(text)
    return disjoint(found)


def texts_of(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value in the order in which it stands, with the name of its field.

    Items of a list have the name of the list. A name that is long enough to hold a secret counts as a
    text in front of its own.
    """
    if isinstance(value, str):
        yield name, value
    elif depth >= MOST_DEEP:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and len(key) >= LONG_NAME:
                yield "", key
            yield from texts_of(item, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item, name, depth + 1)


def secrets_of_texts(
    texts: Sequence[tuple[str, str]], *, emails: bool = False
) -> dict[int, list[Span]]:
    """The secrets of many texts with the names of their fields, by the number of the text.

    They are looked through as one, since looking for a hundred literals costs more than a short text is
    long. A field whose name stands for a secret may be one as a whole.
    """
    found: dict[int, list[Span]] = {}
    starts = list(accumulate((len(text) + len(BETWEEN) for _, text in texts), initial=0))
    for span in secrets_in(BETWEEN.join(text for _, text in texts), emails=emails):
        at = bisect_right(starts, span.start) - 1
        start = starts[at]
        end = min(span.end - start, len(texts[at][1]))
        if end > span.start - start:
            found.setdefault(at, []).append(Span(span.start - start, end, span.kind))
    for at, (name, text) in enumerate(texts):
        kind = kind_of_field(name)
        if kind and is_field_secret(kind, text):
            found[at] = [Span(0, len(text), kind)]
    return found


@lru_cache(maxsize=4096)
def kind_of_field(name: str) -> str:
    """The kind of secret that a field of this name holds, "" for others."""
    return names_secret(name) if name and len(name) <= 60 else ""
