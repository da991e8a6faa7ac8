"""What the recorded compactions of a stored session lost: loaded, calculated once, kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, Final, TypeVar
from uuid import UUID

from compaction_app.anchor_store import Also, read_on
from compaction_app.engine.retention.anchors import RULES_VERSION, AnchorKind
from compaction_app.engine.retention.cycles import Cycle, Instead, cycle_instead, cycles_of
from compaction_app.engine.retention.fates import Fate
from compaction_app.engine.retention.ledger import Ledger, Room, Tally
from compaction_app.engine.retention.losses import (
    Loss,
    loss_of,
    losses_from_json,
    losses_of,
    losses_to_json,
)
from compaction_app.engine.retention.retention import fate_json
from compaction_app.engine.retention.session_index import SessionIndex
from compaction_app.engine.wording.cues import Kind
from compaction_app.lost_beside import beside_of
from compaction_app.summarisers.extraction.layouts import PLAIN, SHARES
from sessions_app.entries import sendable
from sessions_app.loaded import timeline_of
from sessions_app.masking import mask
from sessions_app.models import Session, Window
from sessions_app.rows import messages_of, storable_json
from sessions_app.transcripts.transcript import Entry, JsonObject

KEPT = 8
"""So many windows are remembered."""

_SHARES_OF: Final[tuple[tuple[Kind, tuple[AnchorKind, ...]], ...]] = (
    ("constraints", ("constraint",)),
    ("decisions", ("decision",)),
    ("failures", ("error",)),
    ("todos", ("promise",)),
    ("asks", ("ask",)),
    (
        "identifiers",
        (
            "file_action",
            "path",
            "uuid",
            "hash",
            "url",
            "host_port",
            "version",
            "ticket",
            "quantity",
        ),
    ),
)
"""Which kinds a share of the summariser serves; in its order."""

Key = tuple[UUID, int, int | None]
V = TypeVar("V")

_indexes: OrderedDict[UUID, SessionIndex] = OrderedDict()
_cycles: OrderedDict[Key, list[Cycle]] = OrderedDict()
_ledgers: OrderedDict[Key, Ledger] = OrderedDict()
_tallies: OrderedDict[Key, Tally] = OrderedDict()
_lock = Lock()
_reading = Lock()
"""Held while texts are read, which takes long; nobody who only looks waits for it."""

_ALWAYS_SPENT: Final = dict(SHARES)["done"]
"""The share for what hardly any conversation is without, and what is no anchor."""

EXTRACTIVE: Final = Room(
    round(PLAIN.max_chars * (1 - _ALWAYS_SPENT)),
    tuple((kinds, dict(SHARES)[share]) for share, kinds in _SHARES_OF),
)
"""The room of the summary that needs no model, with its own shares."""


def index_of(window: Window, also: Also | None = None) -> SessionIndex:
    """The anchors of a window's entries. Texts are read only where no process has read them before;
    ``also`` reads those along."""
    with _reading:
        with _lock:
            index = _indexes.pop(window.uuid, None) or SessionIndex()
        read_on(index, window, also)
        with _lock:
            _indexes[window.uuid] = index
            while len(_indexes) > KEPT:
                _indexes.popitem(last=False)
        return index


def read_along(window: Window, add: Callable[[Entry], None], start: int) -> int:
    """Read the window's entries for their anchors, where these will be needed, and hand them to ``add`` in
    the same pass, from number ``start`` on; up to which number it was handed them."""
    if not len(timeline_of(window).compactions.place):
        return start
    also = Also(add, start)
    index_of(window, also)
    return also.seen


def ledger_of(window: Window, leaf: int | None = None) -> Ledger:
    """The anchors of a branch as arrays."""

    def make() -> Ledger:
        return Ledger(timeline_of(window, leaf).branch.tolist(), index_of(window).anchors)

    return _kept(_ledgers, _key(window, leaf), make)


def known_ledger(window: Window, leaf: int | None = None) -> Ledger | None:
    """The same where it is in memory already."""
    with _lock:
        return _ledgers.get(_key(window, leaf))


def cycles_for(window: Window, leaf: int | None = None) -> list[Cycle]:
    """The recorded compactions on a branch of a window."""

    def make() -> list[Cycle]:
        grown = timeline_of(window, leaf)
        if not len(grown.compactions.place):
            return []
        return cycles_of(
            index_of(window), grown, lambda seqs: _messages(window, seqs), beside_of(window)
        )

    return _kept(_cycles, _key(window, leaf), make)


def cycle_with(window: Window, instead: Instead) -> Cycle | None:
    """A recorded compaction as it would be with another summary; not kept."""
    return cycle_instead(
        index_of(window),
        timeline_of(window),
        lambda seqs: _messages(window, seqs),
        instead,
        beside_of(window),
    )


def recorded_tally(window: Window, leaf: int | None = None) -> Tally:
    """What the recorded compactions removed and lost, by their own summaries; each anchor once."""
    return _kept(_tallies, _key(window, leaf), lambda: _tally(cycles_for(window, leaf)))


def _tally(cycles: Iterable[Cycle]) -> Tally:
    removed: dict[tuple[AnchorKind, str], bool] = {}
    for cycle in cycles:
        for fate in cycle.retention.fates:
            key = (fate.anchor.kind, fate.anchor.key)
            removed[key] = removed.get(key, False) or fate.is_lost
    rules = [lost for (kind, _), lost in removed.items() if kind == "constraint"]
    return Tally(len(removed), sum(removed.values()), len(rules), sum(rules))


def shown_cycle(cycle: Cycle, most_lost: int) -> dict[str, Any]:
    """A compaction as plain values, its texts as a viewer may see them."""
    told = cycle.to_json(most_lost) | {"codes": list(loss_of(cycle).codes)}
    told["lost"] = [shown_fate(fate) for fate in cycle.retention.lost[:most_lost]]
    return told | {"memoryFiles": [mask(sendable(path)) for path in cycle.memory_files]}


def shown_fate(fate: Fate) -> dict[str, Any]:
    """An anchor as plain values, its texts as a viewer may see them."""
    told = fate_json(fate)
    return told | {name: mask(sendable(told[name])) for name in ("text", "detail")}


def _key(window: Window, leaf: int | None) -> Key:
    return (window.uuid, window.entry_count, leaf)


def _kept(cache: OrderedDict[Key, V], key: Key, make: Callable[[], V]) -> V:
    with _lock:
        if key in cache:
            cache.move_to_end(key)
            return cache[key]
    made = make()
    with _lock:
        cache[key] = made
        while len(cache) > KEPT:
            cache.popitem(last=False)
    return made


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
