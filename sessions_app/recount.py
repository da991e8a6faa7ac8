"""Counting a session's tokens anew by another vocabulary."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction

from sessions_app import jobs
from sessions_app.facts import FACT_FIELDS, LIVE_FACT_FIELDS, count_facts
from sessions_app.importers.links import migrate
from sessions_app.models import Entry, Job, Session, Window
from sessions_app.payload import record_of
from sessions_app.tokens.exact import ENCODINGS
from sessions_app.transcripts.measures import exact_tokens
from sessions_app.working import Hold

AT_ONCE_ENTRIES = 2_000
BATCH = 500


class UnknownEncoding(ValueError):
    """There is no such vocabulary."""


def request_recount(session: Session, encoding: str) -> Job | None:
    """Count now, or by a worker when the session is long: then the job.

    Raises:
        UnknownEncoding: naming those there are.
    """
    if encoding not in ENCODINGS:
        raise UnknownEncoding(
            f"There is no vocabulary {encoding!r}; known: {', '.join(ENCODINGS)}."
        )
    if session.entry_count <= AT_ONCE_ENTRIES:
        recount(session, encoding)
        return None
    title = f"{session.title}: count by {encoding}"
    arguments = {"encoding": encoding}
    return jobs.enqueue(session.team, "recount", title, arguments, session.entry_count, session)


def recount(session: Session, encoding: str, hold: Hold | None = None) -> None:
    """Count every entry's texts by ``encoding``; done again after a crash it starts anew.

    What a live session gets meanwhile is counted at the end, while its writers wait.
    """
    done = 0
    for window in session.windows.order_by("sequence"):
        for batch in _counted(window, 0, encoding):
            done += batch
            if hold is not None:
                hold.progress(done, session.entry_count)
    with transaction.atomic():
        locked = Session.objects.select_for_update().get(pk=session.pk)
        for window in session.windows.order_by("sequence"):
            if locked.is_live:
                done += sum(_counted(window, done, encoding))
            count_facts(locked, window)
        locked.encoding = encoding
        fields = LIVE_FACT_FIELDS if locked.is_live else FACT_FIELDS
        locked.save(update_fields=(*fields, "encoding"))
    session.refresh_from_db()


def _counted(window: Window, start: int, encoding: str) -> Iterator[int]:
    """Count the entries from number ``start`` on; how many were done with each batch."""
    found = Entry.objects.filter(window=window, seq__gte=start).order_by("seq")
    for batch in _batches(found.only("pk", "type", "payload").iterator(chunk_size=BATCH)):
        for entry in batch:
            record = migrate(record_of(entry.payload), window.version)
            entry.exact = exact_tokens(entry.type, record, encoding)
        Entry.objects.bulk_update(batch, ["exact"])
        yield len(batch)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
