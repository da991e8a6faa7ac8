"""Which valid key was an unknown one probably meant to be?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from compaction_app.engine.config.nodes import ListOf, Node, RecordOf, Strict

ALIKE: Final = 0.7
"""How much of two keys must agree for one to be a slip of the other."""
LONGEST: Final = 80
"""Longer unknown keys are no slips."""
MOST: Final = 100
"""Files with more unknown keys than this are not of this kind at all."""

Path = tuple[str, ...]


class KeyFinder:
    """Finds the nearest valid key of one schema."""

    def __init__(self, schema: Strict) -> None:
        self._schema = schema
        self._everywhere: dict[str, Path] = {}
        self._asked = 0

    def nearest(self, holder: Strict, path: Path, key: str) -> str | None:
        """The full path of the nearest valid key, or None when nothing is near.

        A slip of the pen in the same object comes first; then the same key, or a slip of it,
        elsewhere: people put keys one level too high or low, and give an agent what only the defaults
        take.
        """
        self._asked += 1
        if len(key) > LONGEST or self._asked > MOST:
            return None
        here = _by_plain_name((*path, name) for name in holder.fields)
        self._everywhere = self._everywhere or _by_plain_name(_places(self._schema, ()))
        for places in (here, self._everywhere):
            close = get_close_matches(_plain(key), places, n=1, cutoff=ALIKE)
            if close:
                return ".".join(places[close[0]])
        return None


def _by_plain_name(paths: Iterable[Path]) -> dict[str, Path]:
    """The first path of each name, the name without case and word marks."""
    places: dict[str, Path] = {}
    for path in paths:
        places.setdefault(_plain(path[-1]), path)
    return places


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _places(node: Node, path: Path) -> Iterator[Path]:
    """The paths of all keys; lists and records are shown as a place in them."""
    match node:
        case Strict():
            for name, child in node.fields.items():
                yield (*path, name)
                yield from _places(child, (*path, name))
        case ListOf():
            yield from _places(node.item, (*path, "[]"))
        case RecordOf():
            yield from _places(node.value, (*path, "<id>"))
