"""A recorded compaction of a stored session: its branch up to the boundary, and where it was cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.loaded import timeline_of
from sessions_app.models import Window
from sessions_app.rows import entries_at


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """The compaction ``number`` (from 1) of a window's newest branch, with places on that branch: what it
    removed goes from ``start`` to ``kept``, the boundary stands at ``place``."""

    window: Window
    number: int
    branch: tuple[int, ...]
    start: int
    kept: int
    place: int

    def path(self) -> list[Mapping[str, Any]]:
        """The records of the branch before the boundary; texts are loaded."""
        return [entry.record for entry in entries_at(self.window, self.branch[: self.place])]


def recorded_compaction(window: Window, number: int) -> RecordedCompaction | None:
    """The compaction of that number, none where there is no such one."""
    grown = timeline_of(window)
    found = grown.compactions
    if not 1 <= number <= len(found.place):
        return None
    places, kepts = found.place.tolist(), found.kept.tolist()
    start = 0
    for kept in kepts[: number - 1]:
        start = max(start, kept)
    return RecordedCompaction(
        window=window,
        number=number,
        branch=tuple(grown.branch.tolist()),
        start=start,
        kept=max(kepts[number - 1], start),
        place=places[number - 1],
    )
