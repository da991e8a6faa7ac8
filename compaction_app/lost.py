"""What the recorded compactions of a stored session lost: loaded, calculated once, kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any
from uuid import UUID

from compaction_app.engine.retention.anchors import RULES_VERSION
from compaction_app.engine.retention.cycles import Cycle, cycles_of
from compaction_app.engine.retention.losses import (
    Loss,
    losses_from_json,
    losses_of,
    losses_to_json,
)
from compaction_app.engine.retention.session_index import SessionIndex
from sessions_app.loaded import timeline_of
from sessions_app.models import Session, Window
from sessions_app.rows import entries_of_window, messages_of, storable_json
from sessions_app.transcripts.transcript import JsonObject

KEPT_INDEXES = 8
KEPT_CYCLES = 32

_indexes: OrderedDict[UUID, SessionIndex] = OrderedDict()
_cycles: OrderedDict[tuple[UUID, int, int | None], list[Cycle]] = OrderedDict()
_lock = Lock()


def index_of(window: Window) -> SessionIndex:
    """The anchors of a window's entries. Read are only those that were not read before."""
    with _lock:
        index = _indexes.pop(window.uuid, None) or SessionIndex()
        if index.seen < window.entry_count:
            index.add(entries_of_window(window, index.seen))
        _indexes[window.uuid] = index
        while len(_indexes) > KEPT_INDEXES:
            _indexes.popitem(last=False)
        return index


def known_index(window: Window) -> SessionIndex | None:
    """The anchors of a window when all its entries have been read already."""
    with _lock:
        index = _indexes.get(window.uuid)
    return index if index is not None and index.seen >= window.entry_count else None


def cycles_for(window: Window, leaf: int | None = None) -> list[Cycle]:
    """The recorded compactions on a branch of a window."""
    key = (window.uuid, window.entry_count, leaf)
    with _lock:
        if key in _cycles:
            _cycles.move_to_end(key)
            return _cycles[key]
    grown = timeline_of(window, leaf)

    def messages(seqs: Sequence[int]) -> Iterable[JsonObject]:
        return _messages(window, seqs)

    found = cycles_of(index_of(window), grown, messages) if len(grown.compactions.place) else []
    with _lock:
        _cycles[key] = found
        while len(_cycles) > KEPT_CYCLES:
            _cycles.popitem(last=False)
    return found


def _messages(window: Window, seqs: Sequence[int]) -> Iterator[JsonObject]:
    for _, message in messages_of(window, seqs):
        yield message


def losses_for(session: Session, window: Window) -> tuple[Loss, ...]:
    """What the verdict needs to know: kept with the session, else calculated."""
    kept = session.summary.get("losses") or {}
    is_of_now = (kept.get("window"), kept.get("seen"), kept.get("rules")) == (
        str(window.uuid), window.entry_count, RULES_VERSION,
    )  # fmt: skip
    known = losses_from_json(kept.get("of")) if is_of_now else None
    return losses_of(cycles_for(window)) if known is None else known


def losses_summary(window: Window) -> dict[str, Any]:
    """As it is kept with the session."""
    return {
        "window": str(window.uuid),
        "seen": window.entry_count,
        "rules": RULES_VERSION,
        "of": storable_json(losses_to_json(losses_of(cycles_for(window)))),
    }
