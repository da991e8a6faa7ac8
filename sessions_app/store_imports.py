"""Bringing the sessions of an agent's SQLite store into the database: new, grown, rewritten or unchanged.

A session is known by its id. Its events are read like the lines of a file, from the first that is not yet
stored; a store that has rewritten them (its *generation* tells) is read anew. What a file of the same session
held before gives way: the store is what the runtime goes on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from django.db import transaction
from django.db.models import Q

from sessions_app.agent_store import AgentStore, StoredWindow
from sessions_app.folders import COMPANIONS, STORE_NAME
from sessions_app.importers import FileReader, Position
from sessions_app.importers.index import IndexEntry
from sessions_app.importers.openclaw import ReaderState
from sessions_app.imports import Imported, Source, apply_index, finish_import, title_of
from sessions_app.models import Agent, Session, Team, Window
from sessions_app.rows import reader_state, storable
from sessions_app.window_writing import Overtaken, write_window

MAX_ATTEMPTS = 20
_TOLD_BY_STORE = ("source_name", "generation", "reason", "previous_id", "put_aside")


class _EventTape:
    """The events have no digest: their numbers say how far they were read."""

    def digest_at(self, offset: int) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class StoreImport:
    """One store on its way into the database."""

    team: Team
    store: AgentStore
    agent: Agent | None
    name: str

    def run(self, progress: Callable[[int], None] = lambda done: None) -> Iterator[Imported]:
        """Every session of the store that holds an event."""
        done = 0
        for window in self.store.windows():
            imported = self.session(window, lambda read, before=done: progress(before + read))  # type: ignore[misc]
            if imported is not None:
                done += imported.session.windows.get().content_bytes
                yield imported

    def session(
        self, found: StoredWindow, progress: Callable[[int], None] = lambda done: None
    ) -> Imported | None:
        """One session; none when it is empty."""
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._session(found, progress)
            except Overtaken:
                continue
        raise Overtaken("The same store is being imported at the same time; import it again.")

    def _session(self, found: StoredWindow, progress: Callable[[int], None]) -> Imported | None:
        count = self.store.event_count(found)
        if not count and not found.put_aside:
            return None
        window = self._known(found)
        is_new = window is None
        window = window or self._begin(found)
        session = window.session
        before = _told(session, window)
        if not window.from_store or window.generation != found.generation:
            _empty(window)
        self._describe(session, window, found)
        if count > window.content_lines or (found.put_aside and not window.content_lines):
            self._read(window, found, progress)
        if not is_new and before == _told(session, window):
            return Imported("unchanged", session)
        window.save(update_fields=_TOLD_BY_STORE)
        finish_import(session, window)
        return Imported("imported" if is_new else "extended", session)

    def _known(self, found: StoredWindow) -> Window | None:
        """The window of that session id, from the store or from a file; of another agent it is another."""
        mine = Q(session__agent=self.agent) | Q(session__agent=None) if self.agent else Q()
        windows = Window.objects.filter(
            mine,
            session__team=self.team,
            session__is_live=False,
            external_id=storable(found.session_id, 200),
        )
        return windows.select_related("session").order_by("-from_store", "pk").first()

    def _begin(self, found: StoredWindow) -> Window:
        known = IndexEntry(found.key, found.entry or {})
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team.pk)  # one new session at a time
            if self._known(found) is not None:
                raise Overtaken
            session = Session.objects.create(
                team=self.team,
                agent=self.agent,
                title=storable(title_of(f"{found.session_id}.jsonl", self.agent, known), 200),
            )
            return Window.objects.create(
                session=session,
                external_id=storable(found.session_id, 200),
                generation=found.generation,
                from_store=True,
            )

    def _describe(self, session: Session, window: Window, found: StoredWindow) -> None:
        """What the store says of a session besides its events."""
        session.agent = self.agent or session.agent
        session.runtime_version = storable(self.store.app_version, 40)
        session.key = storable(found.key, 300)
        apply_index(session, IndexEntry(found.key, found.entry) if found.entry else None)
        window.source_name = storable(self.name, 300)
        window.generation = storable(found.generation, 200)
        window.reason = storable(found.reason, 20)
        window.previous_id = storable(found.previous, 200)
        window.put_aside = storable(found.put_aside, 10)

    def _read(self, window: Window, found: StoredWindow, progress: Callable[[int], None]) -> None:
        state = reader_state(window) if window.entry_count else ReaderState()
        start = Position(window.content_bytes, window.content_lines + 1)
        reader = FileReader(state)
        items = reader.read(self.store.chunks(found, window.content_lines), start)
        write_window(window, reader, _EventTape(), items, progress)


def _told(session: Session, window: Window) -> tuple[object, ...]:
    return (
        window.from_store, window.content_bytes, window.generation, window.put_aside, window.reason,
        session.index_entry, session.agent_id, session.key, session.runtime_version,
    )  # fmt: skip


def _empty(window: Window) -> None:
    """Forget what was stored of a window: the store has other events by now."""
    with transaction.atomic():
        window.entries.all().delete()
        window.problems.all().delete()
        window.from_store = True
        window.head_digest = window.content_digest = ""
        window.content_bytes = window.content_lines = 0
        window.entry_count = window.settled_entries = 0
        window.save()


@contextmanager
def in_place(source: Source, others: Mapping[str, Source]) -> Iterator[Path]:
    """The path of a store with what SQLite keeps beside it; what was sent here is put together first."""
    if source.path is not None:
        yield source.path
        return
    folder = PurePosixPath(source.name).parent
    with TemporaryDirectory() as made:
        for name in (STORE_NAME, *COMPANIONS):
            sent = source if name == STORE_NAME else others.get(str(folder / name))
            if sent is not None:
                with sent.open() as file, (Path(made) / name).open("wb") as copy:
                    copyfileobj(file, copy)
        yield Path(made) / STORE_NAME
