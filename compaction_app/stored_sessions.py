"""The sessions of an agent's SQLite store, read in place and without a database of our own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from compaction_app.recordings import Recording, recording_of
from sessions_app.agent_store import AgentStore, StoredWindow
from sessions_app.importers import NotATranscript, read_transcript
from sessions_app.importers.index import IndexEntry
from sessions_app.transcripts.transcript import Transcript


def stored_recordings(store: AgentStore) -> Iterator[tuple[IndexEntry, Recording | None]]:
    """Every session as the engine judges it, with what the store keeps under its key; an entry without
    events has no recording."""
    for window in store.windows():
        if not _has_events(store, window):
            if window.entry:
                yield _entry(window), None
            continue
        recording = recording_of(partial(store.chunks, window), window.session_id)
        if isinstance(recording, Recording):
            yield _entry(window), recording


def stored_transcripts(store: AgentStore) -> Iterator[tuple[IndexEntry, Transcript]]:
    """Every session with events in one value, with what the store keeps under its key."""
    for window in store.windows():
        if _has_events(store, window):
            try:
                yield _entry(window), read_transcript(store.chunks(window))
            except NotATranscript:
                continue


def _has_events(store: AgentStore, window: StoredWindow) -> bool:
    return bool(window.put_aside or store.event_count(window))


def _entry(window: StoredWindow) -> IndexEntry:
    return IndexEntry(window.key, {"sessionId": window.session_id, **(window.entry or {})})
