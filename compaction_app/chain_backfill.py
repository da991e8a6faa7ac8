"""Links for what was stored before there were chains: worked out behind the writers, a batch at a time.

Each batch is one transaction that moves the window's counts along, so that whoever goes on after a
crash begins where the last one ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from compaction_app import checkpoints
from compaction_app.models import Backfill, CompactionRecord, FlushRecord
from compaction_app.record_chain import record_bytes, records_of
from compaction_app.record_models import WorkRecord
from sessions_app.chain import LINKED, Chain
from sessions_app.models import Entry, Window
from sessions_app.payload import unpack

BATCH: Final = 500


def waiting_windows() -> Iterator[int]:
    """The keys of windows whose chains are not whole yet."""
    behind = Window.objects.filter(Q(linked_entries__lt=F("entry_count"))).order_by("pk")
    yield from behind.values_list("pk", flat=True).iterator()
    for records in old_records():  # also those of windows without entries
        yield from records.filter(link=None).values_list("window", flat=True).distinct()


def old_records() -> tuple[QuerySet[CompactionRecord], QuerySet[FlushRecord]]:
    """The records that were there before there were chains."""
    mark = Backfill.objects.order_by("pk").first() or Backfill()
    return (
        CompactionRecord.objects.filter(pk__lte=mark.compactions).order_by("window"),
        FlushRecord.objects.filter(pk__lte=mark.flushes).order_by("window"),
    )


def backfill() -> int:
    """Work out everything that is missing; how many batches it took."""
    batches = 0
    for key in list(waiting_windows()):
        while link_batch(key):
            batches += 1
    while checkpoints.backfill_step():
        batches += 1
    return batches


def link_batch(key: int) -> bool:
    """Link the next entries of a window, with the records that stand among them; whether any is left."""
    with transaction.atomic():
        window = Window.objects.select_for_update().filter(pk=key).first()
        if window is None:
            return False
        chain = Chain(window)
        records = _unlinked(window)
        rows = Entry.objects.filter(window=window, seq__gte=chain.entries).order_by("seq")
        done = []
        for row in rows.only("pk", "digest", "payload", *LINKED)[:BATCH]:
            values = {name: getattr(row, name) for name in LINKED}
            link = chain.add({**values, "digest": bytes(row.digest)}, unpack(row.payload))
            done.append((link, row.pk))
            _link_records(records, chain, row.entry_id)
        _store(done)
        if chain.entries == window.entry_count or not done:
            for record in records:
                _link(record, chain)
        chain.save()
        window.save(update_fields=["link", "linked_entries", "linked_records"])
        return bool(done) and chain.entries < window.entry_count


def _unlinked(window: Window) -> list[WorkRecord]:
    """The old records of a window that have no place in its chain yet, the oldest first."""
    old = {(type(one), one.pk) for rows in old_records() for one in rows.filter(window=window)}
    return [one for one in records_of(window) if one.link is None and (type(one), one.pk) in old]


def _link_records(records: list[WorkRecord], chain: Chain, entry_id: str) -> None:
    """A compaction's record stands right behind its entry, and before it those that wrote none."""
    written = (r for r in records if isinstance(r, CompactionRecord) and r.entry_id == entry_id)
    last = next(written, None)
    while last is not None and last in records:
        _link(records.pop(0), chain)


def _link(record: WorkRecord, chain: Chain) -> None:
    whole = type(record)._default_manager.get(pk=record.pk)
    whole.entries_before, whole.records_before = chain.entries, chain.records
    whole.link = chain.add_record(record_bytes(whole))
    whole.save(update_fields=["link", "entries_before", "records_before"])


def _store(done: list[tuple[bytes, int]]) -> None:
    table = connection.ops.quote_name(Entry._meta.db_table)
    with connection.cursor() as cursor:
        if done:
            cursor.executemany(f"UPDATE {table} SET link = %s WHERE id = %s", done)
