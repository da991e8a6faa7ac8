"""Memory files: notes are appended once each, never overwritten, and say where they come from."""

from __future__ import annotations

import pytest

from compaction_app.memory import FlushOrigin, append_notes, text_of
from compaction_app.models import MemoryFile, MemoryNote
from sessions_app.models import Session
from tests.compaction_app.live import live_session
from tests.conftest import Person


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


def write(session: Session, *texts: str, compactions: int = 0) -> list[MemoryNote]:
    assert session.agent is not None
    origin = FlushOrigin(session, compactions, turn=4)
    return append_notes(session.agent, "memory/2026-01-01.md", texts, origin)


def test_notes_of_several_flushes_follow_each_other_in_the_days_file(session: Session) -> None:
    write(session, "one", "two\n")
    write(session, "drei ä", compactions=1)
    file = MemoryFile.objects.get()
    assert text_of(file) == "one\ntwo\ndrei ä\n"
    assert file.size == len(text_of(file).encode())
    note = MemoryNote.objects.order_by("pk")[0]
    assert (note.session, note.turn, note.flush) == (session, 4, f"{session.uuid}:0")


def test_a_flush_that_is_carried_out_again_writes_only_what_is_missing(session: Session) -> None:
    write(session, "one")
    again = write(session, "one", "two")
    assert [note.text for note in again] == ["two"]
    assert write(session, "one", "two") == []
    assert text_of(MemoryFile.objects.get()) == "one\ntwo\n"


def test_notes_outlive_their_session(session: Session) -> None:
    write(session, "one")
    session.delete()
    assert MemoryNote.objects.get().session is None
