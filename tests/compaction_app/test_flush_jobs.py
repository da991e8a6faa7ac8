"""The memory flush of a session by a worker: decided again, carried out in silence, its notes kept once."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app import live_turns
from compaction_app.flush_jobs import request_flush
from compaction_app.models import (
    Decision,
    MemoryFile,
    MemoryNote,
)
from sessions_app.entries import window_of
from sessions_app.models import Entry, Event, Session
from sessions_app.rows import entries_of_window
from tests.compaction_app.compacting import talk
from tests.compaction_app.flushing import fill, flushed
from tests.compaction_app.live import SMALL, live_agent, live_session, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    """A session at its flush line: the next turn begins with a flush."""
    made = live_session(alice)
    fill(made)
    return made


def test_without_a_model_the_summariser_writes_the_note(session: Session) -> None:
    record = flushed(session, trigger="due", prompt=user("And now?"))
    assert (record.outcome, record.notes, record.summariser) == ("written", 1, "extractive")
    note = MemoryNote.objects.get()
    assert "Question 3" in note.text and note.text.startswith("## 20")
    assert (note.session, note.file.agent) == (session, session.agent)
    assert note.file.name == record.file
    session.refresh_from_db()
    assert session.index_entry["memoryFlushCompactionCount"] == 0


def test_the_turn_is_silent_and_the_session_shows_that_it_was(session: Session) -> None:
    before = Entry.objects.filter(window=window_of(session)).count()
    flushed(session)
    entries = list(entries_of_window(window_of(session)))[before:]
    assert [(e.role, e.mark) for e in entries] == [("user", "flush"), ("assistant", "flush")]
    assert entries[1].record["message"]["content"][0]["text"] == "NO_REPLY"
    kinds = list(Event.objects.filter(session=session).values_list("kind", flat=True))
    assert kinds[-1] == "flush"


def test_after_the_flush_the_turn_is_sent(session: Session) -> None:
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "flush"
    flushed(session, trigger="due", prompt=prompt)
    session.refresh_from_db()
    assert live_turns.prepare(session, prompt).next.action in ("send", "compact")
    assert Decision.objects.filter(session=session, rule="memory_flush", fired=True).count() == 1


def test_a_cycle_is_flushed_once(session: Session) -> None:
    flushed(session)
    record = flushed(session)
    assert (record.outcome, record.reason) == ("skipped", "already_flushed_in_cycle")
    assert MemoryNote.objects.count() == 1


def test_what_is_not_due_is_skipped_with_its_reason(alice: Person) -> None:
    session = live_session(alice)
    talk(session, 1, 10)
    record = flushed(session, trigger="due", prompt=user("Hi"))
    assert (record.outcome, record.reason) == ("skipped", "below_threshold")
    assert not MemoryFile.objects.exists()


@pytest.mark.parametrize(
    ("settings", "fields", "reason"),
    [
        ({"compaction.memoryFlush.enabled": False}, {}, "no_flush_plan"),
        ({}, {"provider": "claude-cli"}, "cli_provider"),
        (
            {},
            {"config_text": '{"agents": {"defaults": {"sandbox": {"mode": "all"}}}}'},
            "workspace_not_writable",
        ),
    ],
)
def test_an_agent_that_cannot_flush_is_skipped(
    alice: Person, settings: dict[str, Any], fields: dict[str, Any], reason: str
) -> None:
    session = live_session(alice, {**SMALL, **settings}, **fields)
    fill(session)
    record = flushed(session)
    assert (record.outcome, record.reason) == ("skipped", reason)
    assert MemoryNote.objects.count() == 0


def test_a_large_transcript_forces_a_flush(alice: Person) -> None:
    session = live_session(
        alice, {**SMALL, "compaction.memoryFlush.forceFlushTranscriptBytes": 10_000}
    )
    talk(session, 2)
    record = flushed(session, trigger="due", prompt=user("Hi"))
    assert (record.outcome, record.reason) == ("written", "forced_by_transcript_size")


def test_waiting_flushes_of_a_session_are_one(alice: Person) -> None:
    from sessions_app.live_sessions import create_session

    agent = live_agent(alice)
    one, two = create_session(agent), create_session(agent)
    assert request_flush(one) == request_flush(one)
    assert request_flush(one) != request_flush(two)
