"""The list's numbers of live sessions follow their writers, and change nothing of theirs."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.utils import timezone

from sessions_app import following, store
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Session
from sessions_app.recount import recount
from sessions_app.writing import LiveState, store_as_sent
from tests.builders import usage
from tests.conftest import Person


@pytest.fixture
def session(alice: Person) -> Session:
    return create_session(Agent.objects.create(team=alice.team, name="main", is_live=True))


def talk(session: Session, prompt: int = 100) -> None:
    said = {"role": "assistant", "content": "yes", "usage": usage(prompt, 10)}
    store.append(session, [{"role": "user", "content": "hello"}, said], store_as_sent)


def test_calls_turns_and_the_curve_are_counted_behind_the_writer(session: Session) -> None:
    talk(session, 100)
    talk(session, 300)
    assert following.count_live() == 1
    session.refresh_from_db()
    assert (session.facts["calls"], session.facts["turns"], session.peak_tokens) == (2, 2, 310)
    assert session.spark == [110, 310] and session.counted == session.entry_count == 4
    assert session.summary["verdict"] is not None
    assert following.count_live() == 0


def test_what_was_written_meanwhile_is_not_overwritten(session: Session) -> None:
    talk(session)
    loaded = Session.objects.get(pk=session.pk)
    with store.writing(session) as writer:
        writer.append([{"role": "user", "content": "more"}], store_as_sent)
        writer.state = LiveState(index={"totalTokens": 7}, guard={"g": 1}, queued=("q",))
    following.count_session(loaded)
    recount(loaded, "cl100k_base")
    session.refresh_from_db()
    assert session.index_entry == {"totalTokens": 7}
    assert (session.guard, session.queued, session.entry_count) == ({"g": 1}, ["q"], 3)
    assert session.encoding == "cl100k_base"


def test_a_long_session_waits_for_enough_news_or_for_quiet(session: Session) -> None:
    talk(session)
    Session.objects.update(entry_count=10_000, counted=9_990)
    assert following.count_live() == 0
    with patch.object(following, "QUIET", timedelta(0)):
        assert [s.pk for s in following._grown()] == [session.pk]
    Session.objects.update(counted=9_900, last_at=timezone.now())
    assert [s.pk for s in following._grown()] == [session.pk]


def test_the_list_says_that_a_session_is_live(alice: Person, session: Session) -> None:
    talk(session)
    following.count_live()
    html = alice.client.get("/").content.decode()
    assert '<span class="tag live">live</span>' in html and session.title in html


def test_the_session_page_shows_what_has_just_been_appended(
    alice: Person, session: Session
) -> None:
    talk(session)
    first = alice.client.get(f"/sessions/{session.uuid}/").content.decode()
    talk(session)
    second = alice.client.get(f"/sessions/{session.uuid}/").content.decode()
    assert "<b>1</b> model call" in first and "<b>2</b> model calls" in second
    assert "live" in second
