"""Watching folders: every file in them is followed, whatever becomes of it.

The system tells of changes (watchfiles); because such news get lost (network drives, overflow, read-only mounts
of another machine), everything is looked at again every few seconds, which costs one stat a file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from django.db import DatabaseError, close_old_connections
from django.utils import timezone
from watchfiles import watch

from sessions_app.batches import FileReport, import_files
from sessions_app.file_following import FileFollower
from sessions_app.folders import (
    COMPANIONS,
    CONFIG_NAME,
    INDEX_NAME,
    STORE_NAME,
    beside,
    is_known_name,
    walk,
)
from sessions_app.imports import Source
from sessions_app.models import Team, WatchedFolder
from sessions_app.rows import storable
from sessions_app.store_following import StoreFollower

LOOK_AGAIN_SECONDS = 5.0
STEP_MS = 50
"""How long the system's news are gathered before they are looked at."""

Follower = FileFollower | StoreFollower


@dataclass(slots=True)
class FolderWatch:
    """One folder (or file) that is watched for a team."""

    folder: WatchedFolder
    followers: dict[Path, Follower] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return Path(self.folder.path)

    def begin(self) -> Iterator[FileReport]:
        """Import all there is, as ``import_sessions`` does; then every file is known."""
        sources = self._sources(walk(self.root))
        yield from import_files(self.folder.team, sources, root=Path.cwd())
        for source in sources:
            follower = self._follower(source.path) if source.path else None
            if follower is not None:
                follower.imported_as(source.stamp)

    def look(self, paths: Iterable[Path] | None = None) -> int:
        """Look at these files, at all when none are named. Returns how many had news."""
        wanted = walk(self.root) if paths is None else map(_followed_by, paths)
        news = 0
        for path in dict.fromkeys(wanted):
            follower = self._follower(path)
            if follower is not None:
                news += self._follow(follower)
        now = monotonic()
        for follower in self.followers.values():
            follower.count_if_due(now)
        return news

    def _follow(self, follower: Follower) -> bool:
        try:
            return follower.follow()
        except (OSError, DatabaseError) as error:
            follower.forget()
            follower.error = str(error)
            return False

    def report(self, news: int) -> bool:
        """Say in the row that the watcher is there; False when the row was taken away."""
        errors = (f"{f.path.name}: {f.error}" for f in self.followers.values() if f.error)
        row = self.folder
        row.seen_at, row.files = timezone.now(), len(self.followers)
        row.error = storable(next(errors, ""), 500)
        fields = ["seen_at", "files", "error"]
        if news:
            row.news, row.news_at = row.news + news, row.seen_at
            fields += ["news", "news_at"]
        return bool(
            WatchedFolder.objects.filter(pk=row.pk).update(
                **{name: getattr(row, name) for name in fields}
            )
        )

    def _follower(self, path: Path) -> Follower | None:
        """Who follows a file; none for an index or a configuration, which are read with their files."""
        if path.name in (CONFIG_NAME, INDEX_NAME):
            return None
        if path not in self.followers:
            team = self.folder.team
            self.followers[path] = (
                StoreFollower(path, team, self._import)
                if path.name == STORE_NAME
                else FileFollower(path, self._import)
            )
        return self.followers[path]

    def _import(self, path: Path) -> FileReport:
        """A file with the index and configuration beside it."""
        sources = self._sources([path, *beside(path)])
        reports = list(import_files(self.folder.team, sources, root=Path.cwd()))
        name = path.as_posix()
        return next(
            (each for each in reports if each.path == name),
            FileReport(name, "refused", "It is gone."),
        )

    def _sources(self, paths: Iterable[Path]) -> list[Source]:
        found = []
        for path in paths:
            try:
                found.append(Source.of_path(path, path.as_posix()))
            except OSError:
                continue
        return found


def _followed_by(path: Path) -> Path:
    """The file whose follower looks after a change: a store's for its log."""
    return path.with_name(STORE_NAME) if path.name in COMPANIONS else path


def folder_of(team: Team, path: Path) -> WatchedFolder:
    """The row of a folder, made where there is none."""
    row, _ = WatchedFolder.objects.get_or_create(
        team=team, path=storable(str(path.resolve()), 1000)
    )
    return row


def run(watches: list[FolderWatch], stop: threading.Event) -> Iterator[int]:
    """Follow until told to stop; each round gives how many files had news."""
    roots = [watched.root for watched in watches]
    looked = (
        -LOOK_AGAIN_SECONDS
    )  # what changed before the watch was set is found by the first round
    for changes in watch(
        *roots,
        watch_filter=None,
        step=STEP_MS,
        debounce=10 * STEP_MS,
        rust_timeout=int(1000 * LOOK_AGAIN_SECONDS / 5),
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        close_old_connections()
        changed = {Path(name) for _, name in changes}
        everything = monotonic() - looked >= LOOK_AGAIN_SECONDS
        looked = monotonic() if everything else looked
        news = 0
        for watched in list(watches):
            mine = None if everything else {p for p in changed if p.is_relative_to(watched.root)}
            found = watched.look(_known(mine) if mine is not None else None)
            news += found
            if not watched.report(found):
                watches.remove(watched)
        yield news
        if not watches:
            return


def _known(paths: Iterable[Path]) -> list[Path]:
    """Those of the changed files that somebody follows."""
    return [p for p in paths if is_known_name(p.name) or p.name in COMPANIONS]
