"""Writing what a reader finds in a file to its window, in batches, with flat memory.

Each batch is one transaction that moves the digest along with the entries, so an import that breaks off is
continued by the next one. Who finds the window moved has been overtaken and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from django.db import transaction

from sessions_app.chain import Chain
from sessions_app.importers import FileReader, Position
from sessions_app.models import Entry as EntryRow
from sessions_app.models import ImportProblem, Session, Window
from sessions_app.payload import pack
from sessions_app.rows import entry_values, insert_entries, storable
from sessions_app.tokens.exact import encoding_for
from sessions_app.transcripts.measures import Measures, measure
from sessions_app.transcripts.transcript import Entry, Header, Problem

BATCH_ENTRIES = 500
BATCH_BYTES = 8 << 20
MAX_PROBLEMS = 1000
SESSION_FILES = ("openclaw", "pi")
"""Sources whose lines are the entries themselves."""


Progress = Callable[[int], None]
Items = Iterator[tuple[Position, Header | Entry | Problem]]


class Digests(Protocol):
    """Knows the digest of what was read up to an offset."""

    def digest_at(self, offset: int) -> str: ...


class Overtaken(Exception):
    """Somebody else imports the same file at the same time, and was faster."""


@dataclass(slots=True)
class _Batch:
    """What the next transaction will write."""

    measured: list[tuple[Entry, Measures]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    bytes: int = 0

    def is_full(self) -> bool:
        return len(self.measured) >= BATCH_ENTRIES or self.bytes >= BATCH_BYTES


def write_window(
    window: Window, reader: FileReader, tape: Digests, items: Items, progress: Progress
) -> Position | None:
    """Store everything in batches. A batch ends between lines, so the digest fits its entries.

    What is stored and settled already is passed over, as far as the reader gives it once more. Returns up to
    where the file was read, None when there was nothing.
    """
    session = window.session
    first, line = window.settled_entries, _lines_told(window)
    batch, done = _Batch(), None
    for end, item in items:
        if done and end != done and batch.is_full() and done.offset > window.content_bytes:
            _store(window, batch, tape, done, reader.settled_entries)
            progress(done.offset)
            batch = _Batch()
        done = end
        if isinstance(item, Problem):
            if item.line > line or not item.line:
                batch.problems.append(item)
        elif isinstance(item, Header):
            _describe(session, window, item)
        elif item.seq >= first:
            if not session.model and item.role == "assistant":
                _name_model(session, item)
            batch.measured.append((item, measure(item, session.encoding)))
            batch.bytes += len(item.raw)
    if done:
        _store(window, batch, tape, done, reader.settled_entries)
        progress(done.offset)
    return done


def _lines_told(window: Window) -> int:
    """Up to which line the problems are known that a reader will find again."""
    return 0 if window.session.source in SESSION_FILES else window.content_lines


def _store(window: Window, batch: _Batch, tape: Digests, done: Position, settled: int) -> None:
    with transaction.atomic():
        _overtake(window)
        # A torn tail is read again when the file has grown, so what was said of it is dropped.
        ImportProblem.objects.filter(window=window, kind="FILE_TRUNCATED_TAIL").delete()
        _insert(window, batch)
        room = MAX_PROBLEMS - ImportProblem.objects.filter(window=window).count()
        ImportProblem.objects.bulk_create(
            ImportProblem(
                window=window,
                line=problem.line,
                kind=problem.kind,
                message=storable(problem.message, 500),
                raw=problem.raw,
            )
            for problem in batch.problems[: max(room, 0)]
        )
        window.settled_entries = min(settled, window.entry_count)
        window.content_bytes = done.offset
        window.content_lines = done.lines
        window.content_digest = tape.digest_at(done.offset)
        window.save()


def _insert(window: Window, batch: _Batch) -> None:
    """The entries, in place of those that the file tells anew, linked to what stands before them."""
    if not batch.measured:
        return
    first, chain = batch.measured[0][0].seq, Chain(window)
    if first < window.entry_count:
        chain.cut(first)
        EntryRow.objects.filter(window=window, seq__gte=first).delete()
        window.entry_count = first
        window.searched_entries = min(window.searched_entries, first)
    rows = ((entry_values(window, one, measures), one.raw) for one, measures in batch.measured)
    insert_entries(chain.linked(rows))
    chain.save()
    window.entry_count = batch.measured[-1][0].seq + 1


def _overtake(window: Window) -> None:
    """Be the next to write to the window.

    Raises:
        Overtaken: when somebody else has written since it was read.
    """
    same = Window.objects.filter(
        pk=window.pk,
        content_bytes=window.content_bytes,
        content_digest=window.content_digest,
        linked_entries=window.linked_entries,  # nor are older entries being linked meanwhile
    )
    if not same.update(content_bytes=window.content_bytes):
        raise Overtaken
    window.refresh_from_db(fields=["searched_entries", "searched_by"])  # moved by those who search


def _describe(session: Session, window: Window, header: Header) -> None:
    """What the header says; the session keeps the window's id as its own name for people."""
    window.external_id = storable(header.id, 200)
    window.version = header.version
    window.header = pack(header.raw)
    session.source = header.source


def _name_model(session: Session, entry: Entry) -> None:
    session.provider = storable(entry.message.get("provider"), 100)
    session.model = storable(entry.message.get("model"), 200)
    session.encoding = encoding_for(session.model)
