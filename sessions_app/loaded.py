"""Columns of windows that were looked at lately, kept in memory.

Entries are append-only, so a window with the same number of entries has the same columns; only the
count by another vocabulary changes a column.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TypeVar
from uuid import UUID

from sessions_app.drawing.strip import Strip, composition_strip
from sessions_app.models import Window
from sessions_app.rows import columns_of_window
from sessions_app.transcripts.columns import Columns
from sessions_app.transcripts.timeline import PARTS, Timeline, timeline

KEPT = 16

Key = tuple[UUID, int, str]
K = TypeVar("K")
V = TypeVar("V")

Span = tuple[int, int] | None

_strips: OrderedDict[tuple[Key, int | None, Span], Strip] = OrderedDict()
_timelines: OrderedDict[tuple[Key, int | None], Timeline] = OrderedDict()
_columns: OrderedDict[Key, Columns] = OrderedDict()
_lock = Lock()


def _key(window: Window) -> Key:
    return (window.uuid, window.entry_count, window.session.encoding)


def columns_of(window: Window) -> Columns:
    """The columns of a window: from memory, else by one query."""
    return kept(_columns, _key(window), lambda: columns_of_window(window))


def timeline_of(window: Window, leaf: int | None = None) -> Timeline:
    """The growth along one branch of a window: from memory, else calculated."""
    return kept(_timelines, (_key(window), leaf), lambda: timeline(columns_of(window), leaf))


def strip_of(window: Window, leaf: int | None = None, span: Span = None) -> Strip:
    """The drawn composition of a branch: from memory, else drawn."""

    def draw() -> Strip:
        return composition_strip(PARTS, timeline_of(window, leaf).parts, span)

    return kept(_strips, (_key(window), leaf, span), draw)


def kept(cache: OrderedDict[K, V], key: K, make: Callable[[], V], most: int = KEPT) -> V:
    """What ``cache`` knows under ``key``, else what ``make`` makes; the ``most`` used last stay."""
    with _lock:
        if key in cache:
            cache.move_to_end(key)
            return cache[key]
    made = make()
    with _lock:
        cache[key] = made
        while len(cache) > most:
            cache.popitem(last=False)
    return made
