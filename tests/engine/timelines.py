"""Timelines of messages with times, and of recorded runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import Columns, columns_of_entries
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.timeline import Timeline, timeline
from sessions_app.transcripts.transcript import Entry

RUNS = Path(__file__).parents[1] / "data" / "runs" / "2026.5.28"


def columns(messages: Sequence[Any], times: Sequence[int | None] = ()) -> Columns:
    """One entry a message, each following the one before; times in seconds."""
    at = [None if time is None else time * 1000 for time in times] or [0] * len(messages)
    entries = [
        Entry(n, n, f"e{n}", n - 1 if n else None, "message", at[n], {"message": message}, b"")
        for n, message in enumerate(messages)
    ]
    return columns_of_entries((entry, measure(entry)) for entry in entries)


def timed(*timed_messages: tuple[int | None, Any]) -> Timeline:
    """The timeline of messages, each with the second it was written in."""
    times = [time for time, _ in timed_messages]
    return timeline(columns([message for _, message in timed_messages], times))


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run of the real runtime: its entries and columns, its configuration, what the model was sent."""

    entries: tuple[Entry, ...]
    columns: Columns
    config: dict[str, Any]
    views: list[dict[str, Any]]

    def seq(self, identity: str) -> int:
        """The number of the entry with this id."""
        return next(entry.seq for entry in self.entries if entry.id == identity)


def recorded(name: str) -> RecordedRun:
    folder = RUNS / name
    read = read_transcript([(folder / "transcript.jsonl").read_bytes()])
    return RecordedRun(
        entries=read.entries,
        columns=columns_of_entries((entry, measure(entry)) for entry in read.entries),
        config=json.loads((folder / "openclaw.json").read_text()),
        views=json.loads((folder / "views.json").read_text()),
    )
