"""Following one file while others write to it: what is new, and nothing twice.

A file is first imported as any other. From then on its reader is kept, and only the bytes behind those that
were read are read. A file that has shrunk, that was replaced by another, or whose last bytes are no longer those
that were read, is imported anew: then the import finds out whether it is still the same session.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from sessions_app import events
from sessions_app.batches import FileReport
from sessions_app.imports import Trail, finish_import, stamp_of
from sessions_app.models import Window
from sessions_app.window_writing import Overtaken

SEAM_BYTES = 64
"""So many bytes before the end of what was read must still be there."""

COUNT_AFTER_SECONDS = 2.0
"""A session is counted anew when nothing has come for so long ..."""

COUNT_AT_LEAST_SECONDS = 15.0
"""... and so often while something keeps coming."""

ImportWhole = Callable[[Path], FileReport]


@dataclass(slots=True)
class Uncounted:
    """A session with news that its facts do not know yet."""

    window: Window
    since: float
    last: float

    def is_due(self, now: float) -> bool:
        quiet, waited = now - self.last, now - self.since
        return quiet >= COUNT_AFTER_SECONDS or waited >= COUNT_AT_LEAST_SECONDS

    def count(self) -> None:
        finish_import(self.window.session, self.window)


@dataclass(slots=True)
class FileFollower:
    """One transcript. ``import_whole`` brings in the file with all that belongs to it."""

    path: Path
    import_whole: ImportWhole
    error: str = ""
    uncounted: Uncounted | None = None
    _trail: Trail | None = None
    _seam: bytes = b""
    _node: tuple[int, int] = (0, 0)
    _written: int = 0
    _as_imported: str = ""

    def follow(self) -> bool:
        """Take in what is new; whether there was anything."""
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                trail = self._trail
                if trail is None and stamp_of(stat) == self._as_imported:
                    return False
                if trail is None or (stat.st_dev, stat.st_ino) != self._node:
                    return self._begin()
                if (stat.st_size, stat.st_mtime_ns) == (trail.tape.read_to, self._written):
                    return False
                if stat.st_size < trail.tape.read_to or not self._is_same(file.fileno()):
                    return self._begin()
                self._written = stat.st_mtime_ns
                return self._extend(trail, file)
        except FileNotFoundError:
            self._trail = None  # what was read of it stays; if it comes back it is looked at anew
            return False
        except Overtaken:
            return self._begin()

    def imported_as(self, stamp: str) -> None:
        """The file was imported by others when it had this stamp."""
        self._as_imported = stamp

    def forget(self) -> None:
        """Look at the file anew next time: what was done with it came to nothing."""
        self._trail = self.uncounted = None
        self._as_imported = ""

    def _begin(self) -> bool:
        self._count()
        self._as_imported = stamp_of(self.path.stat())
        report = self.import_whole(self.path)
        self.error = report.error if report.status == "refused" else ""
        self._trail = report.trail
        if self._trail is not None:
            stat = self.path.stat()
            self._node = (stat.st_dev, stat.st_ino)
            self._remember()
        is_new = report.status in ("imported", "extended")
        if is_new:
            for session in report.sessions:
                events.announce(session, "entries", {"count": session.entry_count})
        return is_new

    def _extend(self, trail: Trail, file: BinaryIO) -> bool:
        before = trail.window.entry_count
        if not trail.extend(file):
            return False
        self._remember()
        window = trail.window
        if window.entry_count > before:
            data = {"from": before, "count": window.entry_count - before}
            events.announce(window.session, "entries", data)
        now = monotonic()
        self.uncounted = self.uncounted or Uncounted(window, now, now)
        self.uncounted.last = now
        if trail.reader.sidechains:  # sessions of their own, which only a whole import makes
            self._trail = None
        return True

    def _remember(self) -> None:
        """The last bytes that were read, to know the file by."""
        if self._trail is not None:
            self._seam = self._trail.tape.last(SEAM_BYTES)

    def _is_same(self, descriptor: int) -> bool:
        """Whether the bytes before the end of what was read are still those."""
        trail, seam = self._trail, self._seam
        at = trail.tape.read_to - len(seam) if trail is not None else 0
        return os.pread(descriptor, len(seam), at) == seam

    def _count(self) -> None:
        if self.uncounted is not None:
            self.uncounted.count()
            self.uncounted = None

    def count_if_due(self, now: float) -> None:
        """Bring the facts of the session up to date, but not at every line."""
        if self.uncounted is not None and self.uncounted.is_due(now):
            self._count()
