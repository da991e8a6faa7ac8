"""Which valid key was an unknown one probably meant to be?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from compaction_app.engine.config.nodes import ListOf, Node, RecordOf, Strict

ALIKE: Final = 0.7
"""How much of two keys must agree for one to be a slip of the other."""
LONGEST: Final = 80
"""Longer unknown keys are no slips."""

Path = tuple[str, ...]


def nearest_key(schema: Strict, holder: Strict, path: Path, key: str) -> str | None:
    """The full path of the nearest valid key, or None when nothing is near.

    A slip of the pen in the same object comes first; then the same key, or a slip of it, elsewhere:
    people put keys one level too high or low, and give an agent what only the defaults take.
    """
    if len(key) > LONGEST:
        return None
    here = [((*path, name), name) for name in holder.fields]
    everywhere = [(place, place[-1]) for place in _places(schema, ())]
    for candidates in (here, everywhere):
        best = max(candidates, key=lambda place: _likeness(key, place[1]), default=None)
        if best is not None and _likeness(key, best[1]) >= ALIKE:
            return ".".join(best[0])
    return None


def _likeness(one: str, other: str) -> float:
    one, other = _plain(one), _plain(other)
    return 1.0 if one == other else SequenceMatcher(None, one, other, autojunk=False).ratio()


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
