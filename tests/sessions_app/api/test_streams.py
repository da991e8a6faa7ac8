"""Server-sent events: in order, resumable, only the team's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connection
from django.test import AsyncClient
from django.utils import timezone

from sessions_app import api_tokens, stream
from sessions_app.events import AT_A_TIME, announce
from sessions_app.models import ApiToken, Event, Session
from tests.api_client import api_of
from tests.conftest import Person

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20


def session_of(person: Person, title: str = "live") -> Session:
    return Session.objects.create(team=person.team, title=title, is_live=True)


async def opened(path: str, secret: str, last: str = "") -> AsyncIterator[bytes]:
    """A stream that listens already: its first line has come."""
    headers = {"Authorization": f"Bearer {secret}"} | ({"Last-Event-ID": last} if last else {})
    answer = await AsyncClient().get(f"/api/v1{path}", headers=headers)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/event-stream"
    chunks: AsyncIterator[bytes] = aiter(answer.streaming_content)
    assert (await anext(chunks)).startswith(b"retry: ")
    return chunks


async def listen(path: str, secret: str, count: int, last: str = "") -> list[dict[str, Any]]:
    return await read(await opened(path, secret, last), count)


async def read(chunks: AsyncIterator[bytes], count: int) -> list[dict[str, Any]]:
    """The next ``count`` events."""
    return await asyncio.wait_for(_read(chunks, count), PATIENCE)


async def _read(chunks: AsyncIterator[bytes], count: int) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while len(events) < count:
        lines = (await anext(chunks)).decode().strip().split("\n")
        fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
        if "event" in fields:
            events.append({**fields, "data": json.loads(fields["data"])})
    return events


def test_a_stream_tells_what_happened_and_then_what_happens(alice: Person) -> None:
    session = session_of(alice)
    for number in range(3):
        announce(session, "appended", {"n": number, "text": "行\nline <b>"})
    secret = api_of(alice.team).secret
    path = f"/sessions/{session.uuid}/events/stream"

    async def run() -> list[dict[str, Any]]:
        chunks = await opened(path, secret)
        first = await read(chunks, 3)
        await sync_to_async(announce)(session, "flushed", {"n": 3})
        await sync_to_async(announce)(session, "compacted", {"n": 4})
        return first + await read(chunks, 2)

    events = asyncio.run(run())
    assert [event["id"] for event in events] == ["1", "2", "3", "4", "5"]
    assert [event["data"]["n"] for event in events] == [0, 1, 2, 3, 4]
    assert events[0]["data"]["text"] == "行\nline <b>"
    assert [event["event"] for event in events[3:]] == ["flushed", "compacted"]


def test_a_stream_goes_on_behind_the_last_event_that_was_seen(alice: Person) -> None:
    session = session_of(alice)
    for number in range(4):
        announce(session, "appended", {"n": number})
    api = api_of(alice.team)
    path = f"/sessions/{session.uuid}/events"
    events = asyncio.run(listen(f"{path}/stream", api.secret, 2, last="2"))
    assert [event["id"] for event in events] == ["3", "4"]
    assert [event["sequence"] for event in api.get(f"{path}?after=3")] == [4]
    assert [event["sequence"] for event in api.get(f"{path}?limit=2")] == [1, 2]


def test_the_stream_of_a_deleted_session_ends(alice: Person) -> None:
    session = session_of(alice)
    secret = api_of(alice.team).secret

    async def run() -> list[dict[str, Any]]:
        chunks = await opened(f"/sessions/{session.uuid}/events/stream", secret)
        await Session.objects.filter(pk=session.pk).adelete()
        return await read(chunks, 1)

    assert [event["event"] for event in asyncio.run(run())] == ["gone"]


def test_a_stream_ends_for_a_token_that_was_revoked_meanwhile(alice: Person) -> None:
    session = session_of(alice)
    token = api_tokens.create(alice.team, alice.user, "laptop", "read")

    async def run(path: str) -> list[bytes]:
        chunks = await opened(path, token.secret)
        await sync_to_async(announce)(session, "appended", {})
        assert len(await read(chunks, 1)) == 1
        await sync_to_async(api_tokens.revoke)(token.row)
        await sync_to_async(announce)(session, "appended", {})
        left = [chunk async for chunk in chunks]
        await ApiToken.objects.filter(pk=token.row.pk).aupdate(revoked_at=None)
        return left

    for path in (f"/sessions/{session.uuid}/events/stream", "/events/stream"):
        assert asyncio.run(asyncio.wait_for(run(path), PATIENCE)) == []


def test_the_teams_stream_tells_of_its_own_sessions_from_now_on(alice: Person, bob: Person) -> None:
    first, second, theirs = session_of(alice, "1"), session_of(alice, "2"), session_of(bob)
    announce(first, "old", {})
    secret = api_of(alice.team).secret

    async def run() -> list[dict[str, Any]]:
        chunks = await opened("/events/stream", secret)
        for session in (theirs, second, first):
            await sync_to_async(announce)(session, "appended", {"of": session.title})
        return await read(chunks, 2)

    events = asyncio.run(run())
    told = [(event["data"]["session"], event["data"]["sequence"]) for event in events]
    assert told == [(str(second.uuid), 1), (str(first.uuid), 2)]


def test_the_teams_stream_resumes_without_a_gap(alice: Person) -> None:
    session = session_of(alice)
    for number in range(3):
        announce(session, "appended", {"n": number})
    old = Event.objects.order_by("pk").first()
    assert old
    Event.objects.filter(pk=old.pk).update(at=timezone.now() - 2 * stream.SETTLED)
    secret = api_of(alice.team).secret
    events = asyncio.run(listen("/events/stream", secret, 2, last=str(old.pk)))
    assert [event["data"]["n"] for event in events] == [1, 2]
    own = list(Event.objects.filter(pk__gt=old.pk).values_list("pk", flat=True))
    resumes = own if connection.vendor == "sqlite" else [old.pk, old.pk]
    assert [event["id"] for event in events] == list(map(str, resumes)), (
        "never behind what may come"
    )


def test_a_long_break_is_made_up_for_event_by_event(alice: Person) -> None:
    session = session_of(alice)
    first = announce(session, "appended", {"n": 0})
    count = 2 * AT_A_TIME + 7
    Event.objects.bulk_create(
        Event(session=session, sequence=n, kind="appended", data={"n": n})
        for n in range(2, count + 1)
    )
    Event.objects.update(at=timezone.now() - 2 * stream.SETTLED)
    secret = api_of(alice.team).secret
    events = asyncio.run(listen("/events/stream", secret, count - 1, last=str(first.pk)))
    assert [event["data"]["sequence"] for event in events] == list(range(2, count + 1))


def test_many_who_listen_share_one_reader(alice: Person) -> None:
    sessions = [session_of(alice, str(number)) for number in range(5)]

    async def run() -> list[bool]:
        waiting = [
            asyncio.create_task(stream.reader().wait(session.pk, 0, PATIENCE))
            for session in sessions
            for _ in range(3)
        ]
        await asyncio.sleep(0.1)
        readers = [task for task in asyncio.all_tasks() if "Reader._run" in repr(task)]
        assert len(readers) == 1
        for session in sessions:
            await sync_to_async(announce)(session, "appended", {})
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [True] * 15


def test_a_look_that_fails_is_made_again(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(alice)
    announce(session, "appended", {})
    looks = iter([OperationalError("the database is locked")])
    look = stream._moved

    def sometimes(watches: Any) -> Any:
        for error in looks:
            raise error
        return look(watches)

    monkeypatch.setattr(stream, "_moved", sometimes)

    async def run() -> bool:
        return await stream.reader().wait(session.pk, 0, PATIENCE)

    assert asyncio.run(run()) is True


def test_a_wait_ends_when_nothing_comes(alice: Person) -> None:
    session = session_of(alice)

    async def run() -> bool:
        return await stream.reader().wait(session.pk, 0, 0.05)

    assert asyncio.run(run()) is False
    assert timedelta(seconds=stream.LOOK_SECONDS) < timedelta(seconds=stream.PING_SECONDS)


def test_only_who_may_read_the_session_may_listen(alice: Person, bob: Person) -> None:
    session = session_of(alice)

    async def status(path: str, secret: str, last: str = "") -> int:
        headers = {"Authorization": f"Bearer {secret}", "Last-Event-ID": last}
        return (await AsyncClient().get(f"/api/v1{path}", headers=headers)).status_code

    path = f"/sessions/{session.uuid}/events/stream"
    hers, his = api_of(alice.team).secret, api_of(bob.team).secret
    assert asyncio.run(status(path, his)) == 404
    assert asyncio.run(status(path, "nothing")) == 401
    assert asyncio.run(status("/events/stream", "nothing")) == 401
    assert asyncio.run(status(path, hers, last="x")) == 422
    assert api_of(bob.team).call("GET", f"/sessions/{session.uuid}/events")[0] == 404
    assert api_of(alice.team).call("POST", path, {})[0] == 405
