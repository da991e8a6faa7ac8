"""What was found in the messages of one call, each kind from old to new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from compaction_app.engine.wording.cues import Kind
from compaction_app.engine.wording.sentences import key_of

MAX_KEPT = 200
"""How many quotes of one kind are remembered; older ones give way."""


@dataclass(slots=True)
class Quotes:
    """Quotes of one kind. One said again counts as new, and stands once."""

    _found: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> None:
        key = key_of(text) or text
        self._found.pop(key, None)
        self._found[key] = text
        if len(self._found) > MAX_KEPT:
            del self._found[next(iter(self._found))]

    def newest_first(self) -> list[str]:
        return list(reversed(self._found.values()))


@dataclass(slots=True)
class Findings:
    """Everything found: quotes by kind, the lists of identifiers by urgency.

    ``first_ask`` is a quote, ``latest_ask`` the whole text of the last thing the user said. ``identifiers`` holds one list
    per source, the newest source first; ``mixed`` says that the sources are equally recent, so that
    each of them gets its share of the room.
    """

    quotes: dict[Kind, Quotes] = field(default_factory=dict)
    first_ask: str | None = None
    latest_ask: str | None = None
    identifiers: list[list[str]] = field(default_factory=list)
    mixed: bool = False

    def of(self, kind: Kind) -> Quotes:
        return self.quotes.setdefault(kind, Quotes())

    def newest_first(self, kind: Kind) -> list[str]:
        if kind == "identifiers":
            return list(dict.fromkeys(self._identifiers()))
        return self.of(kind).newest_first()

    def _identifiers(self) -> Iterator[str]:
        lists: Iterable[Iterable[str | None]] = self.identifiers
        if self.mixed:
            lists = zip_longest(*lists)
        return (one for one in chain.from_iterable(lists) if one is not None)
