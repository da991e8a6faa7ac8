"""Compaction and flush records as links of their window's hash chain, between the entries."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any, Final

from compaction_app.models import CompactionRecord, FlushRecord
from compaction_app.record_models import WorkRecord
from sessions_app.chain import Chain
from sessions_app.models import Window

_COVERED: Final = (
    "cycle",
    "trigger",
    "outcome",
    "reason",
    "message",
    "rule_set",
    "summariser",
    "calls",
)
_OF_A_COMPACTION: Final = (
    "instructions", "entry_id", "tokens_before", "tokens_after", "kept", "dropped", "came_in", "record",
    "answers",
)  # fmt: skip
_OF_A_FLUSH: Final = ("file", "notes", "reply", "dialogue", "in_transcript")


def record_bytes(record: WorkRecord) -> bytes:
    """Everything that a record says, as one text that every database gives back alike."""
    own = _OF_A_COMPACTION if isinstance(record, CompactionRecord) else _OF_A_FLUSH
    said = {name: _plain(getattr(record, name)) for name in (*_COVERED, *own)}
    said |= {
        "kind": record._meta.model_name,
        "uuid": record.uuid.hex,
        "cost": None if record.cost is None else f"{record.cost:.8f}",
        "from": record.started_at.astimezone(UTC).isoformat(),
        "to": record.finished_at.astimezone(UTC).isoformat(),
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def link_record(record: WorkRecord, window: Window) -> None:
    """Give a record that is about to be saved its place at the end of the chain, under the window's lock.

    Where older entries wait for their links, it waits behind them.
    """
    chain = Chain(window)
    if not chain.is_whole:
        return
    record.entries_before, record.records_before = chain.entries, chain.records
    record.link = chain.add_record(record_bytes(record))
    chain.save()


def records_of(window: Window) -> list[WorkRecord]:
    """The records of a window without what they say, in the order of the chain; those that have no
    place in it yet come last, the oldest first."""
    names = ("pk", "link", "entries_before", "records_before", "finished_at", "entry_id")
    found: list[WorkRecord] = []
    found += CompactionRecord.objects.filter(window=window).only(*names)
    found += FlushRecord.objects.filter(window=window).only(*names[:-1])
    return sorted(found, key=_place)


def _place(record: WorkRecord) -> tuple[Any, ...]:
    if record.records_before is None:
        return (1, record.finished_at, record.pk)
    return (0, record.records_before)


def _plain(value: Any) -> Any:
    """A JSON value with its whole numbers as such: a database may write 1e3 as 1000."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
