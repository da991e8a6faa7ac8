"""Where the silent turn of a flush is kept: between two turns, never between a prompt and its answer."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from compaction_app import live_turns
from compaction_app.flush_jobs import request_flush
from compaction_app.models import FlushRecord, MemoryNote
from sessions_app.entries import window_of
from sessions_app.models import Session
from sessions_app.rows import entries_of_window
from sessions_app.transcripts.session_context import context_of_path
from tests.compaction_app.compacting import at
from tests.compaction_app.flushing import connect, done, fill, flushed
from tests.compaction_app.live import answer, calls, live_session, result, user
from tests.conftest import Person
from tests.summarisers.loopback import openai_stream, serving

pytestmark = pytest.mark.django_db
SILENT = "Pre-compaction memory flush"


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    fill(made)
    return made


def marks(session: Session) -> list[str]:
    """Roles from the end of the talk on; those of a silent turn in brackets."""
    entries = list(entries_of_window(window_of(session)))[10:]
    return [f"({e.role})" if e.mark == "flush" else e.role for e in entries if e.type == "message"]


def texts(session: Session) -> str:
    records = [e.record for e in entries_of_window(window_of(session))]
    return str(context_of_path(records).messages)


def meanwhile(session: Session, *messages: Any) -> FlushRecord:
    """A flush while whose model is asked the agent goes on."""
    for _ in at("carried out", lambda: live_turns.append(session, list(messages))):
        record = flushed(session)
    return record


def test_behind_the_last_turn_it_stands_in_the_transcript(session: Session) -> None:
    record = flushed(session)
    assert marks(session) == ["(user)", "(assistant)"]
    assert record.in_transcript is True


def test_a_whole_turn_that_came_in_meanwhile_stays_whole_before_it(session: Session) -> None:
    record = meanwhile(session, user("meanwhile"), answer("heard", prompt=25_100))
    assert marks(session) == ["user", "assistant", "(user)", "(assistant)"]
    assert record.in_transcript is True
    assert live_turns.prepare(session, user("And now?")).next.action in ("send", "compact")


def test_a_prompt_that_came_in_meanwhile_is_answered_undisturbed(session: Session) -> None:
    record = meanwhile(session, user("meanwhile"))
    assert marks(session) == ["user"]
    assert record.in_transcript is False and record.notes == 1
    live_turns.report_call(session, [answer("heard", prompt=25_100)])
    assert marks(session) == ["user", "assistant"]


def test_a_flush_by_hand_parts_no_call_from_its_result(session: Session) -> None:
    """A person may ask for it while the agent's tool runs."""
    live_turns.append(session, [user("read it"), calls("c1", prompt=25_100)])
    record = flushed(session)
    assert record.in_transcript is False
    receipts = live_turns.append(session, [result("c1", "what it says")]).receipts
    assert receipts[0].id is not None, receipts[0].reason
    assert marks(session) == ["user", "assistant", "toolResult"]
    assert "what it says" in texts(session)


def test_a_prompt_that_is_stored_already_gets_its_answer_next(session: Session) -> None:
    live_turns.append(session, [user("And now?")])
    assert live_turns.prepare(session).next.action == "flush"
    record = flushed(session, trigger="due")
    assert record.in_transcript is False
    assert marks(session) == ["user"]
    assert live_turns.prepare(session).next.action in ("send", "compact")


def test_what_is_not_in_the_transcript_is_said_where_people_look(
    alice: Person, session: Session
) -> None:
    with serving(openai_stream("Tell the user about the port.")) as server:
        connect(session, server.url)
        for _ in at("carried out", lambda: live_turns.append(session, [user("meanwhile")])):
            job = done(request_flush(session))
    record = FlushRecord.objects.get()
    assert record.dialogue and record.in_transcript is False
    (line,) = job.lines.filter(text__contains="silent turn")
    assert "only in the flush's record" in line.text
    for name, args in (("job", [job.uuid]), ("flush-record", [record.uuid])):
        html = alice.client.get(reverse(name, args=args)).content.decode()
        assert "the agent was in the middle of a turn" in html


def test_the_memory_page_leads_to_the_flush_and_says_where_its_turn_is(
    alice: Person, session: Session
) -> None:
    record = meanwhile(session, user("meanwhile"))
    assert session.agent is not None
    html = alice.client.get(reverse("memory", args=[session.agent.uuid])).content.decode()
    assert reverse("flush-record", args=[record.uuid]) in html
    assert "only in its record" in html
    assert MemoryNote.objects.count() == 1
