"""Does what is stored still hold together? Chains of entries and records, and checkpoints of decisions.

Everything is read in the order of its chain, a little at a time, and compared with links worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import zstandard
from django.db.models import Max, Sum

from compaction_app import checkpoints
from compaction_app.chain_backfill import old_records
from compaction_app.models import CompactionRecord, Decision, DecisionCheckpoint
from compaction_app.record_chain import record_bytes, records_of
from compaction_app.record_models import WorkRecord
from sessions_app.chain import BEGINNING, LINKED, entry_link, record_link, row_bytes
from sessions_app.models import Entry, Session, Window
from sessions_app.payload import unpack
from sessions_app.tombstones import chain_ends, digest_of

CHUNK: Final = 200
STEP: Final = 1_000
TRIES: Final = 3
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found of a session; ``broken`` are the first links that do not fit, one of each chain.

    ``waiting`` are entries, records and decisions that are older than chains and have no link yet.
    """

    session: Session
    entries: int
    records: int
    decisions: int
    dropped: int
    waiting: int
    digest: str
    broken: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "session": str(self.session.uuid),
            "title": self.session.title,
            "entries": self.entries,
            "records": self.records,
            "decisions": self.decisions,
            "dropped": self.dropped,
            "waiting": self.waiting,
            "digest": self.digest,
            "broken": list(self.broken),
        }


def verify(session: Session, progress: Progress = lambda done: None) -> Verified:
    """Check everything that is stored of a session. ``progress`` is told how much was looked at."""
    windows = list(session.windows.order_by("sequence").defer("header"))
    broken: list[str] = []
    records = waiting = 0
    for window in windows:
        walk, fault = _walked(window, progress)
        broken += [fault] if fault else []
        records += walk.records
        waiting += window.entry_count - window.linked_entries + walk.waiting
    fault = _decisions_fault(session.pk)
    broken += [fault] if fault else []
    marks = DecisionCheckpoint.objects.filter(session=session)
    lowest, highest = checkpoints.waiting()
    old = Decision.objects.filter(session=session, pk__range=(lowest, highest))
    return Verified(
        session=session,
        entries=sum(window.entry_count for window in windows),
        records=records,
        decisions=Decision.objects.filter(session=session).count(),
        dropped=marks.aggregate(of=Sum("dropped"))["of"] or 0,
        waiting=waiting + (old.count() if lowest <= highest else 0),
        digest=digest_of(chain_ends(session)).hex(),
        broken=tuple(broken),
    )


def sessions_to_verify(uuids: Sequence[str]) -> Iterator[Session]:
    """Those named, else all."""
    found = Session.objects.order_by("pk").only("uuid", "title")
    yield from (found.filter(uuid__in=uuids) if uuids else found).iterator(chunk_size=CHUNK)


def _walked(window: Window, progress: Progress) -> tuple[_Walk, str]:
    """A walk along a window's chain, and its fault; anew where somebody wrote to the window meanwhile."""
    for _ in range(TRIES):
        walk = _Walk(window, progress)
        fault = walk.fault()
        before = _end_of(window)
        window.refresh_from_db()
        if not fault or before == _end_of(window):
            break
    return walk, fault


def _decisions_fault(session: int) -> str:
    """What is wrong with the checkpoints, "" when nothing is; anew where any was written meanwhile."""
    marks = DecisionCheckpoint.objects.filter(session=session)
    for _ in range(TRIES):
        before = marks.aggregate(Max("number"), Sum("dropped"))
        fault = next(checkpoints.broken(session), "")
        if not fault or before == marks.aggregate(Max("number"), Sum("dropped")):
            break
    return fault


class _Walk:
    """One window's chain, from its beginning."""

    def __init__(self, window: Window, progress: Progress) -> None:
        self._window, self._progress = window, progress
        self._link = BEGINNING
        placed = records_of(window)
        old = {(type(one), one.pk) for rows in old_records() for one in rows.filter(window=window)}
        unplaced = [one for one in placed if one.link is None]
        self.records = len(placed)
        self.waiting = sum((type(one), one.pk) in old for one in unplaced)
        self._strange = [one for one in unplaced if (type(one), one.pk) not in old]
        self._placed = [one for one in placed if one.link is not None]
        self._passed = 0

    def fault(self) -> str:
        """The first link that does not fit, "" when all do."""
        window, seq = self._window, 0
        rows = Entry.objects.filter(window=window).order_by("seq")
        names = ("pk", "link", "digest", "payload", *LINKED)
        for row in rows.only(*names).iterator(chunk_size=CHUNK):
            if seq % STEP == 0:
                self._progress(STEP)
            if fault := self._records_at(seq):
                return fault
            if row.seq != seq:
                return f"entry {seq}: it is missing"
            seq += 1
            if seq > window.linked_entries:
                if row.link is not None:
                    return f"entry {row.seq} ({row.entry_id}): the window does not know its link"
                continue
            self._link = _entry_link(self._link, row)
            if self._link != row_bytes(row.link):
                return f"entry {row.seq} ({row.entry_id}): it is not what was stored"
        if seq != window.entry_count:
            return f"entry {seq}: it is missing; the window counts {window.entry_count:,}"
        return self._records_at(seq) or self._end()

    def _records_at(self, seq: int) -> str:
        """Walk over the records that stand before this entry."""
        while self._passed < len(self._placed):
            record = self._placed[self._passed]
            if record.entries_before != seq:
                break
            self._link = _record_link(self._link, record)
            if record.records_before != self._passed or self._link != row_bytes(record.link):
                return f"{_named(record)}: it is not what was stored, or one before it is gone"
            self._passed += 1
        return ""

    def _end(self) -> str:
        window = self._window
        if self._passed < len(self._placed):
            return f"{_named(self._placed[self._passed])}: it has no place in the chain"
        if self._passed != window.linked_records:
            return f"a record is missing; the window counts {window.linked_records:,}"
        if (row_bytes(window.link) or BEGINNING) != self._link:
            return "the end of the chain is not that which the window knows"
        if self._strange and window.linked_entries == window.entry_count:
            return f"{_named(self._strange[0])}: it has no link"
        return ""


def _entry_link(before: bytes, row: Entry) -> bytes:
    """The link that a row must have; b"" for one that cannot be read."""
    columns = [getattr(row, name) for name in LINKED]
    try:
        raw = unpack(row_bytes(row.payload))
    except zstandard.ZstdError:
        return b""
    return entry_link(before, columns, row_bytes(row.digest), raw)


def _record_link(before: bytes, record: WorkRecord) -> bytes:
    try:
        whole = type(record)._default_manager.get(pk=record.pk)
    except ValueError:  # what stands there is no JSON any more
        return b""
    return record_link(before, record_bytes(whole))


def _end_of(window: Window) -> tuple[bytes, int, int]:
    return row_bytes(window.link), window.entry_count, window.linked_records


def _named(record: WorkRecord) -> str:
    kind = "compaction" if isinstance(record, CompactionRecord) else "flush"
    return f"{kind} record {record.uuid}"
