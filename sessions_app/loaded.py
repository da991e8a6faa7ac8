"""Columns of windows that were looked at lately, kept in memory.

Entries are append-only, so a window with the same number of entries has the same columns; only the
count by another vocabulary changes a column.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from uuid import UUID

from sessions_app.columns import Columns
from sessions_app.models import Window
from sessions_app.rows import columns_of_window
from sessions_app.timeline import Timeline, timeline

KEPT = 16

Key = tuple[UUID, int, str]

_timelines: OrderedDict[tuple[Key, int | None], Timeline] = OrderedDict()
_columns: OrderedDict[Key, Columns] = OrderedDict()
_lock = Lock()


def columns_of(window: Window) -> Columns:
    """The columns of a window: from memory, else by one query."""
    key = (window.uuid, window.entry_count, window.session.encoding)
    with _lock:
        if key in _columns:
            _columns.move_to_end(key)
            return _columns[key]
    loaded = columns_of_window(window)
    with _lock:
        _columns[key] = loaded
        while len(_columns) > KEPT:
            _columns.popitem(last=False)
    return loaded


def timeline_of(window: Window, leaf: int | None = None) -> Timeline:
    """The growth along one branch of a window: from memory, else calculated."""
    key = ((window.uuid, window.entry_count, window.session.encoding), leaf)
    with _lock:
        if key in _timelines:
            _timelines.move_to_end(key)
            return _timelines[key]
    grown = timeline(columns_of(window), leaf)
    with _lock:
        _timelines[key] = grown
        while len(_timelines) > KEPT:
            _timelines.popitem(last=False)
    return grown
