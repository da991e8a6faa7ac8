"""The memory page: each file, and which flush of which session and turn wrote each note."""

from __future__ import annotations

import pytest
from django.urls import reverse

from compaction_app.memory import FlushOrigin, append_notes
from sessions_app.models import Session
from tests.compaction_app.live import live_session
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


def write(session: Session, name: str, *texts: str, compactions: int = 0) -> None:
    assert session.agent is not None
    append_notes(session.agent, name, texts, FlushOrigin(session, compactions, turn=7))


def shown(person: Person, session: Session, **query: str) -> str:
    assert session.agent is not None
    answer = person.client.get(reverse("memory", args=[session.agent.uuid]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_newest_file_is_open_and_each_note_says_who_wrote_it(
    alice: Person, session: Session
) -> None:
    write(session, "memory/2026-01-01.md", "older")
    write(session, "memory/2026-01-02.md", "newer", compactions=3)
    html = shown(alice, session)
    assert "<pre>newer</pre>" in html and "<pre>older</pre>" not in html
    assert f'<a href="/sessions/{session.uuid}/">{session.title}</a> at turn 7' in html
    assert "after 3 compactions" in html
    assert "older" in shown(alice, session, file="memory/2026-01-01.md")


def test_notes_of_a_session_that_is_gone_stay(alice: Person, session: Session) -> None:
    write(session, "memory/2026-01-01.md", "kept")
    agent = session.agent
    session.delete()
    session.agent = agent
    assert "a session that is gone" in shown(alice, session)


def test_many_notes_come_in_pages(alice: Person, session: Session) -> None:
    write(session, "memory/2026-01-01.md", *(f"note {n}." for n in range(60)))
    assert "note 49." in shown(alice, session) and "note 50." not in shown(alice, session)
    assert "note 50." in shown(alice, session, page="2")


def test_an_agent_without_memory_says_what_will_write_it(alice: Person, session: Session) -> None:
    assert "Nothing yet. A memory flush" in shown(alice, session)


def test_a_file_that_is_not_there_is_not_found(alice: Person, session: Session) -> None:
    assert session.agent is not None
    address = reverse("memory", args=[session.agent.uuid])
    assert alice.client.get(address, {"file": "memory/no.md"}).status_code == 404


def test_notes_never_become_markup(alice: Person, session: Session) -> None:
    write(session, "memory/2026-01-01.md", HOSTILE)
    html = shown(alice, session)
    assert "<script>alert" not in html and "<img src=x" not in html
