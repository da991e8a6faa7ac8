"""Bringing one file into the database: new, grown or unchanged, in batches, with flat memory.

A file is known again by its first line and by the digest of the bytes that were read of it: the same
bytes change nothing, a file that continues them adds what is new, anything else is a session of its
own. Each batch is one transaction that moves the digest along with the entries, so an import that
breaks off is continued by the next one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal
from uuid import UUID

from django.db import transaction

from sessions_app import signals
from sessions_app.facts import count_facts
from sessions_app.importers import NotATranscript, Position, entries_of, index
from sessions_app.importers.records import giant_file
from sessions_app.models import Agent, ImportProblem, Session, Team, Window
from sessions_app.models import Entry as EntryRow
from sessions_app.payload import pack
from sessions_app.rows import entry_row, reader_state, storable, storable_json
from sessions_app.tape import CHUNK_BYTES, Tape
from sessions_app.tokens.exact import encoding_for
from sessions_app.transcripts.measures import Measures, measure
from sessions_app.transcripts.transcript import Entry, Header, Problem

BATCH_ENTRIES = 500
BATCH_BYTES = 8 << 20
HEAD_BYTES = 1 << 16
MAX_PROBLEMS = 1000

Status = Literal["imported", "unchanged", "extended"]
Progress = Callable[[int], None]
Items = Iterator[tuple[Position, Header | Entry | Problem]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import: ``open`` may be called several times; ``name`` is shown to people."""

    name: str
    size: int
    open: Callable[[], BinaryIO]

    @classmethod
    def of_path(cls, path: Path, name: str) -> Source:
        """A file on disk."""
        return cls(name, path.stat().st_size, lambda: path.open("rb"))


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file."""

    status: Status
    session: Session


@dataclass(slots=True)
class _Batch:
    """What the next transaction will write."""

    measured: list[tuple[Entry, Measures]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    bytes: int = 0

    def is_full(self) -> bool:
        return len(self.measured) >= BATCH_ENTRIES or self.bytes >= BATCH_BYTES


def import_file(
    team: Team,
    source: Source,
    agent: Agent | None = None,
    known: index.IndexEntry | None = None,
    progress: Progress = lambda done: None,
) -> Imported:
    """Read a transcript into the database.

    Args:
        known: its entry in ``sessions.json``, if there is one.
        progress: called with the number of bytes read so far, after each batch.

    Raises:
        NotATranscript: when the file is of no known format; nothing is written then.
    """
    with source.open() as file:
        head_digest = digest_of_head(file)
        window, hasher = _known_window(team, file, source.size, head_digest)
        if window is None:
            return _import_new(team, source, file, agent, known, head_digest, progress)
        return _import_rest(window, source, file, hasher, agent, known, progress)


def digest_of_head(file: BinaryIO) -> str:
    """The digest of the first line, by which a stored file is found again."""
    return hashlib.sha256(file.readline(HEAD_BYTES).rstrip(b"\r\n")).hexdigest()


def _known_window(
    team: Team, file: BinaryIO, size: int, head_digest: str
) -> tuple[Window | None, hashlib._Hash]:
    """The window whose bytes this file begins with, and the digest so far; the longest one wins."""
    found = Window.objects.filter(
        session__team=team, session__is_live=False, head_digest=head_digest, content_bytes__lte=size
    )
    for window in found.select_related("session").order_by("-content_bytes"):
        file.seek(0)
        hasher = hashlib.sha256()
        left = window.content_bytes
        while left and (chunk := file.read(min(left, CHUNK_BYTES))):
            hasher.update(chunk)
            left -= len(chunk)
        if hasher.hexdigest() == window.content_digest:
            return window, hasher
    return None, hashlib.sha256()


def _import_new(
    team: Team,
    source: Source,
    file: BinaryIO,
    agent: Agent | None,
    known: index.IndexEntry | None,
    head_digest: str,
    progress: Progress,
) -> Imported:
    file.seek(0)
    tape = Tape(file, hashlib.sha256(), 0)
    items = entries_of(tape.chunks())
    first = next(items, None)  # raises NotATranscript before anything is written
    if first is None:
        raise NotATranscript("The file holds no entries.")
    with transaction.atomic():
        session = Session.objects.create(
            team=team,
            agent=agent,
            title=storable(_title(source.name, agent, known), 200),
        )
        window = Window.objects.create(
            session=session,
            source_name=storable(source.name, 300),
            head_digest=head_digest,
            content_digest=hashlib.sha256().hexdigest(),
        )
    apply_index(session, known)
    _write(window, tape, chain((first,), items), progress)
    _finish(session, window)
    return Imported("imported", session)


def _import_rest(
    window: Window,
    source: Source,
    file: BinaryIO,
    hasher: hashlib._Hash,
    agent: Agent | None,
    known: index.IndexEntry | None,
    progress: Progress,
) -> Imported:
    """What the file holds behind the bytes that were read before."""
    session = window.session
    before = (window.content_bytes, session.index_entry, session.agent_id)
    apply_index(session, known)
    session.agent = agent or session.agent
    if source.size > window.content_bytes:
        start = _position(window, file)
        tape = Tape(file, hasher, start.offset)
        _write(window, tape, entries_of(tape.chunks(), reader_state(window), start), progress)
    if (window.content_bytes, session.index_entry, session.agent_id) == before:
        return Imported("unchanged", session)
    _finish(session, window)
    return Imported("extended", session)


def _position(window: Window, file: BinaryIO) -> Position:
    """Where the earlier read ended; the file is left there."""
    file.seek(max(window.content_bytes - 1, 0))
    begun = window.content_bytes > 0 and file.read(1) != b"\n"
    return Position(window.content_bytes, window.content_lines + (not begun), begun)


def _write(
    window: Window,
    tape: Tape,
    items: Items,
    progress: Progress,
) -> None:
    """Store everything in batches. A batch ends between lines, so the digest fits its entries."""
    session = window.session
    batch, done = _Batch(), None
    for end, item in items:
        if done and end != done and batch.is_full():
            _store(window, batch, tape, done)
            progress(done.offset)
            batch = _Batch()
        done = end
        if isinstance(item, Problem):
            batch.problems.append(item)
        elif isinstance(item, Header):
            _describe(session, window, item)
        else:
            if not session.model and item.role == "assistant":
                _name_model(session, item)
            batch.measured.append((item, measure(item, session.encoding)))
            batch.bytes += len(item.raw)
    if done:
        _store(window, batch, tape, done)
        progress(done.offset)


def _store(window: Window, batch: _Batch, tape: Tape, done: Position) -> None:
    with transaction.atomic():
        # A torn tail is read again when the file has grown, so what was said of it is dropped.
        ImportProblem.objects.filter(window=window, kind="FILE_TRUNCATED_TAIL").delete()
        EntryRow.objects.bulk_create(
            (entry_row(window, entry, measures) for entry, measures in batch.measured),
            batch_size=200,
        )
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
        window.entry_count += len(batch.measured)
        window.content_bytes = done.offset
        window.content_lines = done.lines
        window.content_digest = tape.digest_at(done.offset)
        window.save()


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


def _title(name: str, agent: Agent | None, known: index.IndexEntry | None) -> str:
    """The file's name; for a name that says nothing the agent and the rest of its session key."""
    stem = PurePosixPath(name).name.removesuffix(".jsonl")
    try:
        UUID(stem)
    except ValueError:
        return stem
    if known is None:
        return stem
    rest = known.key.split(":", 2)[-1] if known.key.startswith("agent:") else known.key
    return f"{agent.name} · {rest}" if agent and agent.name != rest else rest


def apply_index(session: Session, known: index.IndexEntry | None) -> None:
    """Take over the session's entry of ``sessions.json``, where there is one; nothing is saved."""
    if known is not None:
        session.key = storable(known.key, 300)
        session.index_entry = storable_json(known.entry)


def _finish(session: Session, window: Window) -> None:
    """Counts, peaks and the curve for the list; then the floor above is told."""
    with transaction.atomic():
        giant = giant_file(window.content_bytes)
        if giant is not None:
            window.problems.update_or_create(
                line=0, kind=giant.kind, defaults={"message": giant.message}
            )
        count_facts(session, window)
        session.save()
        transaction.on_commit(lambda: signals.session_changed.send(Session, session=session))
