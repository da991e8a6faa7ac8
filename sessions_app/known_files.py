"""Which stored window a file continues: known by its first line and by the digest of what was read of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import BinaryIO, Protocol

from django.db.models import QuerySet

from sessions_app.importers import Position
from sessions_app.models import Session, Team, Window
from sessions_app.rows import storable
from sessions_app.tape import CHUNK_BYTES

HEAD_BYTES = 1 << 16
_PLACES_A_QUERY = 500
NOTHING_READ = hashlib.sha256().hexdigest()
"""The digest of a window of which nothing has been stored yet."""


class File(Protocol):
    """A file on this machine by its absolute path, and what changes when it is written to."""

    @property
    def place(self) -> str: ...

    @property
    def stamp(self) -> str: ...


def digest_of_head(file: BinaryIO) -> str:
    """The digest of the first line, by which a stored file is found again."""
    return hashlib.sha256(file.readline(HEAD_BYTES).rstrip(b"\r\n")).hexdigest()


def windows_alike(team: Team, head_digest: str, thread: str = "") -> QuerySet[Window]:
    """The windows of imported files that begin with that line."""
    return Window.objects.filter(
        session__team=team, session__is_live=False, head_digest=head_digest, thread=thread
    )


def known_window(
    alike: QuerySet[Window], file: BinaryIO, size: int
) -> tuple[Window | None, hashlib._Hash]:
    """The window whose bytes this file begins with, and the digest so far; the longest one wins."""
    found = alike.filter(content_bytes__lte=size)
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


def position_of(window: Window, file: BinaryIO) -> Position:
    """Where the earlier read ended; the file is left there."""
    file.seek(max(window.content_bytes - 1, 0))
    begun = window.content_bytes > 0 and file.read(1) != b"\n"
    return Position(window.content_bytes, window.content_lines + (not begun), begun)


def unwritten_sessions(team: Team, files: Iterable[File]) -> dict[str, Session]:
    """The sessions of the files that nobody has written to since they were imported, by place."""
    stamps = {storable(f.place, 1000): f.stamp for f in files if f.place and f.stamp}
    found: dict[str, Session] = {}
    places = list(stamps)
    for at in range(0, len(places), _PLACES_A_QUERY):
        windows = Window.objects.filter(
            session__team=team,
            thread="",
            from_store=False,
            place__in=places[at : at + _PLACES_A_QUERY],
        )
        for window in windows.select_related("session"):
            if window.stamp == stamps[window.place]:
                found[window.place] = window.session
    return found
