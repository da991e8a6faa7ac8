"""The download of a session: streamed, under a safe name, and only for its team."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient
from django.urls import reverse

from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_a_session_is_downloaded_as_it_was_brought_in(alice: Person) -> None:
    data = short_session().data()
    session = alice.imports(data, "my session.jsonl")
    answer = alice.client.get(reverse("export", args=[session.uuid]))
    assert b"".join(answer.streaming_content) == data  # type: ignore[attr-defined]
    assert answer["Content-Disposition"] == 'attachment; filename="my-session.jsonl"'
    assert answer["Content-Type"] == "application/x-ndjson"


@pytest.mark.django_db(transaction=True)
def test_an_asynchronous_server_sends_the_same(alice: Person) -> None:
    data = short_session().data()
    session = alice.imports(data)

    async def read() -> bytes:
        client = AsyncClient()
        await client.aforce_login(alice.user)
        answer: Any = await client.get(reverse("export", args=[session.uuid]))
        return b"".join([piece async for piece in answer.streaming_content])

    assert asyncio.run(read()) == data


def test_another_teams_session_is_not_there(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    assert bob.client.get(reverse("export", args=[session.uuid])).status_code == 404
    assert alice.client.post(reverse("export", args=[session.uuid])).status_code == 405
