"""The page of a live session hears what happens to it; nobody else's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from sessions_app import store
from sessions_app.live_sessions import archive_session, create_session
from sessions_app.models import Agent, Session
from sessions_app.writing import store_as_sent
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session(alice: Person) -> Session:
    return create_session(Agent.objects.create(team=alice.team, name="main", is_live=True))


def say(session: Session, text: str) -> None:
    store.append(session, [{"role": "user", "content": text}], store_as_sent)


async def heard(person: Person, session: Session, query: str, **headers: str) -> str:
    client = AsyncClient()
    await client.aforce_login(person.user)
    address = reverse("session-events", args=[session.uuid]) + query
    answer: Any = await client.get(address, headers=headers)
    assert answer["Content-Type"] == "text/event-stream"
    chunks = aiter(answer.streaming_content)
    assert (await anext(chunks)).startswith(b"retry: ")
    await sync_to_async(say)(session, "again")
    return (await asyncio.wait_for(anext(chunks), 20)).decode()


def test_an_append_is_heard_with_its_number(alice: Person, session: Session) -> None:
    told = asyncio.run(heard(alice, session, "?after=0"))
    assert told.startswith("id: 1\nevent: entries\n")


@pytest.mark.parametrize("query", ["", "?after=", "?after=x", "?after=-1", f"?after={'9' * 40}"])
def test_without_a_number_only_what_is_new_is_heard(
    alice: Person, session: Session, query: str
) -> None:
    say(session, "before")
    assert asyncio.run(heard(alice, session, query)).startswith("id: 2\n")


def test_a_browser_that_comes_back_goes_on_where_it_was(alice: Person, session: Session) -> None:
    say(session, "one")
    say(session, "two")
    told = asyncio.run(heard(alice, session, "?after=0", **{"Last-Event-ID": "1"}))
    assert told.startswith("id: 2\n")


def test_another_teams_events_are_not_there(bob: Person, session: Session) -> None:
    assert bob.client.get(reverse("session-events", args=[session.uuid])).status_code == 404
    assert bob.client.post(reverse("session-events", args=[session.uuid])).status_code == 405


def test_only_the_page_of_a_session_that_can_grow_listens(alice: Person, session: Session) -> None:
    def page(shown: Session) -> str:
        return alice.client.get(reverse("session", args=[shown.uuid])).content.decode()

    say(session, "one")
    address = reverse("session-events", args=[session.uuid])
    assert f'data-events="{address}?after=1"' in page(session) and "js/live" in page(session)
    archive_session(session)
    assert "data-events" not in page(session)
    recording = alice.imports(short_session().data())
    assert "data-events" not in page(recording) and "js/live" not in page(recording)
