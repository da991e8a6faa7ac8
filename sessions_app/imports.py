"""Bringing one file into the database: new, grown or unchanged, in batches, with flat memory.

A file is known again by its first line and by the digest of the bytes that were read of it: the same
bytes change nothing, a file that continues them adds what is new, anything else is a session of its
own. Each batch is one transaction that moves the digest along with the entries, so an import that
breaks off is continued by the next one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal
from uuid import UUID

from django.db import transaction

from sessions_app import signals
from sessions_app.collector import rarely_collected
from sessions_app.facts import FACT_FIELDS, count_facts
from sessions_app.folders import put_aside
from sessions_app.hidden_secrets import hide
from sessions_app.importers import FileReader, NotATranscript, Position, index
from sessions_app.importers.blocks import BEGINNING
from sessions_app.importers.records import giant_file
from sessions_app.known_files import (
    NOTHING_READ,
    digest_of_head,
    known_window,
    position_of,
    windows_alike,
)
from sessions_app.models import Agent, Session, Team, Window
from sessions_app.rewritten import window_of_document
from sessions_app.rows import reader_state, storable, storable_json
from sessions_app.tape import Tape
from sessions_app.window_writing import SESSION_FILES, Items, Overtaken, Progress, write_window

MAX_ATTEMPTS = 20
IMPORTED_FIELDS = (
    *FACT_FIELDS, "agent", "key", "index_entry", "source", "provider", "model", "encoding",
    "runtime_version",
)  # fmt: skip
"""What an import knows of a session; its events are counted by others at the same time."""

Status = Literal["imported", "unchanged", "extended"]


def stamp_of(stat: os.stat_result) -> str:
    """What changes when a file is written to or replaced."""
    return f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import: ``open`` may be called several times; ``name`` is shown to people.

    ``path`` is where it lies on this machine beside what belongs to it, none for what was sent here; ``stamp``
    stays the same as long as nobody writes to it.
    """

    name: str
    size: int
    open: Callable[[], BinaryIO]
    path: Path | None = None
    stamp: str = ""

    @classmethod
    def of_path(cls, path: Path, name: str) -> Source:
        """A file on disk; it lies there in its own place when it has its own name there."""
        in_place = path if path.name == PurePosixPath(name).name else None
        stat = path.stat()
        stamp = stamp_of(stat) if in_place else ""
        return cls(name, stat.st_size, lambda: path.open("rb"), in_place, stamp)

    @property
    def place(self) -> str:
        """The absolute path, "" for what was sent here."""
        return str(self.path.absolute()) if self.path else ""


@dataclass(slots=True)
class Trail:
    """Where an import of a file ended, and what must be known to read on without reading a byte again."""

    window: Window
    reader: FileReader
    tape: Tape
    end: Position

    def extend(self, file: BinaryIO) -> bool:
        """Store what the file holds by now behind what was read of it; whether there was anything.

        Raises:
            Overtaken: when somebody else has imported more of it meanwhile.
        """
        before = self.tape.read_to
        self.tape.resume(file)
        items = self.reader.read(self.tape.chunks(), self.end)
        end = write_window(self.window, self.reader, self.tape, items, lambda done: None)
        self.end = end or self.end
        return self.tape.read_to > before


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file: its session, and those of the ``sidechains`` in it.

    ``trail`` is where the import ended, for who wants to go on from there.
    """

    status: Status
    session: Session
    sidechains: tuple[str, ...] = ()
    sides: tuple[Session, ...] = ()
    trail: Trail | None = None


def import_file(
    team: Team,
    source: Source,
    agent: Agent | None = None,
    known: index.IndexEntry | None = None,
    progress: Progress = lambda done: None,
) -> Imported:
    """Read a transcript into the database, and the sidechains in it as sessions of their own.

    Args:
        known: its entry in ``sessions.json``, if there is one.
        progress: called with the number of bytes read so far, after each batch.

    Raises:
        NotATranscript: when the file is of no known format; nothing is written then.
        Overtaken: when others kept importing the same file.
    """
    with rarely_collected():
        main = _import_thread(_Import(team, source, agent, known, progress))
        sides: list[Session] = []
        for number, thread in enumerate(main.sidechains, 1):
            title = f"{main.session.title} · sidechain {number}"
            own = _Import(team, source, agent, None, lambda done: None, thread, title, main.session)
            sides.append(_import_thread(own).session)
        return replace(main, sidechains=(), sides=tuple(sides))


def _import_thread(work: _Import) -> Imported:
    """One import; it begins again when somebody else imports the same file at the same time."""
    for _ in range(MAX_ATTEMPTS):
        try:
            with work.source.open() as file:
                return work.run(file)
        except Overtaken:
            continue
    raise Overtaken("The same file is being imported at the same time; import it again.")


@dataclass(frozen=True, slots=True)
class _Import:
    """One thread of one file on its way into the database."""

    team: Team
    source: Source
    agent: Agent | None
    known: index.IndexEntry | None
    progress: Progress
    thread: str = ""
    title: str = ""
    parent: Session | None = None

    def run(self, file: BinaryIO) -> Imported:
        head = digest_of_head(file)
        alike = windows_alike(self.team, head, self.thread)
        before = alike.count()
        window, hasher = known_window(alike, file, self.source.size)
        if window is not None:
            return self._rest(window, file, hasher)
        file.seek(0)
        reader = FileReader(thread=self.thread)
        tape = Tape(file, hashlib.sha256(), 0)
        items = reader.read(tape.chunks())
        first = next(items, None)  # raises NotATranscript before anything is written
        if first is None:
            raise NotATranscript("The file holds no entries.")
        told: Items = chain((first,), items)
        if reader.is_document:  # it was read whole to be one
            whole = list(told)
            told = iter(whole)
            window = window_of_document(self.team, reader, (item for _, item in whole), self.thread)
        status: Status = "extended" if window else "imported"
        if window is None:
            window = self._begin(head, before)
        apply_index(window.session, self.known)
        end = write_window(window, reader, tape, told, self.progress)
        finish_import(window.session, window)
        trail = Trail(window, reader, tape, end or BEGINNING)
        return Imported(status, window.session, reader.sidechains, trail=trail)

    def _begin(self, head_digest: str, before: int) -> Window:
        """A new session with its window. ``before`` as many windows of such a file were known.

        Raises:
            Overtaken: when there are more by now; one of them may be of this file.
        """
        title = self.title or title_of(self.source.name, self.agent, self.known)
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team.pk)  # one new session at a time
            if windows_alike(self.team, head_digest, self.thread).count() != before:
                raise Overtaken
            session = Session.objects.create(
                team=self.team,
                agent=self.agent,
                title=storable(hide(title), 200),
                parent=self.parent,
            )
            return Window.objects.create(
                session=session,
                source_name=storable(self.source.name, 300),
                head_digest=head_digest,
                content_digest=NOTHING_READ,
                thread=self.thread,
                put_aside=put_aside(self.source.name),
            )

    def _rest(self, window: Window, file: BinaryIO, hasher: hashlib._Hash) -> Imported:
        """What the file holds behind the bytes that were read before."""
        session = window.session
        before = (window.content_bytes, session.index_entry, session.agent_id)
        apply_index(session, self.known)
        session.agent = self.agent or session.agent
        if self.source.size <= window.content_bytes:
            done = Imported("unchanged", session)
        else:
            reader, start = self._reader_of(window, file)
            tape = Tape(file, hasher if start.offset else hashlib.sha256(), start.offset)
            items = reader.read(tape.chunks(), start)
            end = write_window(window, reader, tape, items, self.progress)
            trail = Trail(window, reader, tape, end or start)
            done = Imported("unchanged", session, reader.sidechains, trail=trail)
        if (window.content_bytes, session.index_entry, session.agent_id) == before:
            return done
        finish_import(session, window)
        return replace(done, status="extended")

    def _reader_of(self, window: Window, file: BinaryIO) -> tuple[FileReader, Position]:
        """A reader that goes on where the last import ended. What another agent wrote is read from the
        beginning: what a line means there depends on many lines before it."""
        if window.content_bytes and window.session.source in SESSION_FILES:
            return FileReader(reader_state(window)), position_of(window, file)
        file.seek(0)
        return FileReader(thread=self.thread), BEGINNING


def title_of(name: str, agent: Agent | None, known: index.IndexEntry | None) -> str:
    """The file's name; for a name that says nothing the agent and the rest of its session key."""
    stem = PurePosixPath(name).name.split(".jsonl")[0]
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


def finish_import(session: Session, window: Window) -> None:
    """Counts, peaks and the curve for the list; then the floor above is told."""
    with transaction.atomic():
        giant = giant_file(window.content_bytes)
        if giant is not None:
            window.problems.update_or_create(
                line=0, kind=giant.kind, defaults={"message": giant.message}
            )
        count_facts(session, window)
        session.save(update_fields=IMPORTED_FIELDS)
        transaction.on_commit(lambda: signals.session_changed.send(Session, session=session))
