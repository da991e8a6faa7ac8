"""Following an agent's SQLite store: which sessions have news is asked of it, and only those are read on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessions_app import events
from sessions_app.agent_store import StoredWindow, UnreadableStore, opened
from sessions_app.file_following import ImportWhole
from sessions_app.folders import COMPANIONS
from sessions_app.models import Agent, Team
from sessions_app.store_imports import StoreImport
from sessions_app.window_writing import Overtaken

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(slots=True)
class StoreFollower:
    """One store. ``import_whole`` brings it in with all that belongs to it; it knows the agent."""

    path: Path
    team: Team
    import_whole: ImportWhole
    error: str = ""
    _agent: Agent | None = None
    _stamp: Stamp = ()
    _seen: dict[str, Any] = field(default_factory=dict)

    def follow(self) -> bool:
        """Take in what is new; whether there was anything."""
        stamp = self._files()
        if not stamp or stamp == self._stamp:
            return False
        is_first, self._stamp = not self._stamp, stamp
        if is_first:
            return self._begin()
        try:
            with opened(self.path) as store:
                if (store_agent := self._agent) is None:
                    return self._begin()
                work = StoreImport(self.team, store, store_agent, self.path.as_posix())
                told = [self._news(work, found) for found in store.windows()]
        except (UnreadableStore, Overtaken) as error:
            self.error, self._stamp = str(error), ()
            return False
        except FileNotFoundError:
            self._stamp = ()
            return False
        self.error = ""
        return any(told)

    def imported_as(self, stamp: str) -> None:
        """A store is asked for its news in any case."""

    def forget(self) -> None:
        """Look at the store anew next time."""
        self._stamp = ()
        self._seen.clear()

    def count_if_due(self, now: float) -> None:
        """A store's sessions are counted as they are read."""

    def _begin(self) -> bool:
        report = self.import_whole(self.path)
        self.error = report.error if report.status == "refused" else ""
        for session in report.sessions:
            self._agent = session.agent
            if report.status != "unchanged":
                events.announce(session, "entries", {"count": session.entry_count})
        return report.status in ("imported", "extended")

    def _news(self, work: StoreImport, found: StoredWindow) -> bool:
        """One session of the store, looked at only when it is no longer as it was."""
        state = (work.store.event_count(found), found.generation, found.put_aside, found.entry)
        if self._seen.get(found.session_id) == state:
            return False
        done = work.session(found)
        self._seen[found.session_id] = state
        if done is None or done.status == "unchanged":
            return False
        events.announce(done.session, "entries", {"count": done.session.entry_count})
        return True

    def _files(self) -> Stamp:
        """What changes when somebody writes to the store."""
        stats = []
        for name in (self.path.name, *COMPANIONS[:1]):
            try:
                stat = self.path.with_name(name).stat()
            except FileNotFoundError:
                continue
            stats.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(stats)
