"""The page of watched folders, and what an open session page asks for."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from sessions_app.events import announce
from sessions_app.models import WatchedFolder
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def folder(person: Person, path: str = "/home/agent/.openclaw", **fields: object) -> WatchedFolder:
    return WatchedFolder.objects.create(team=person.team, path=path, **fields)


def test_without_folders_the_page_says_what_to_do(alice: Person) -> None:
    page = alice.client.get("/watched/").content.decode()
    assert "manage.py watch ~/.openclaw" in page


@pytest.mark.parametrize(
    ("seen_seconds_ago", "said"), [(1, "watching"), (60, "stopped"), (None, "never started")]
)
def test_the_page_says_whether_somebody_watches(
    alice: Person, seen_seconds_ago: int | None, said: str
) -> None:
    seen = (
        None if seen_seconds_ago is None else timezone.now() - timedelta(seconds=seen_seconds_ago)
    )
    folder(alice, files=12, news=3, seen_at=seen, error="x.jsonl: <b>no</b>")
    page = alice.client.get("/watched/", headers={"HX-Request": "true"}).content.decode()
    assert f">{said}</b>" in page
    assert "&lt;b&gt;no&lt;/b&gt;" in page
    assert "<html" not in page


def test_a_folder_can_be_forgotten(alice: Person) -> None:
    row = folder(alice)
    assert alice.client.get(f"/watched/{row.uuid}/forget/").status_code == 405
    assert alice.client.post(f"/watched/{row.uuid}/forget/")["Location"] == "/watched/"
    assert not WatchedFolder.objects.exists()


def test_another_teams_folders_are_not_there(alice: Person, bob: Person) -> None:
    row = folder(alice)
    assert row.path not in bob.client.get("/watched/").content.decode()
    assert bob.client.post(f"/watched/{row.uuid}/forget/").status_code == 404
    assert bob.client.post(f"/watched/{uuid4()}/forget/").status_code == 404
    assert WatchedFolder.objects.exists()


def test_an_open_page_is_told_of_news_once(alice: Person) -> None:
    session = alice.imports(short_session().data())
    address = f"/sessions/{session.uuid}/news/"
    assert 'hx-target="#work"' not in alice.client.get(f"{address}?after=0").content.decode()
    announce(session, "entries", {"count": 1})
    shown = {"HX-Current-URL": f"http://testserver/sessions/{session.uuid}/?from=2"}
    told = alice.client.get(f"{address}?after=0", headers=shown).content.decode()
    assert 'hx-target="#work"' in told
    assert "?from=2" in told
    assert "after=1" in told
    assert 'hx-target="#work"' not in alice.client.get(f"{address}?after=1").content.decode()


@pytest.mark.parametrize("after", ["", "x", "-1", "9" * 400, "²"])
def test_a_strange_number_of_the_last_news_is_none(alice: Person, after: str) -> None:
    session = alice.imports(short_session().data())
    announce(session, "entries", {})
    answer = alice.client.get(f"/sessions/{session.uuid}/news/", {"after": after})
    assert answer.status_code == 200


def test_news_of_another_teams_session_are_not_there(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    assert bob.client.get(f"/sessions/{session.uuid}/news/?after=0").status_code == 404
    assert alice.client.post(f"/sessions/{session.uuid}/news/").status_code == 405


def test_a_session_page_asks_for_news_only_while_somebody_watches(alice: Person) -> None:
    session = alice.imports(short_session().data())
    address = f"/sessions/{session.uuid}/"
    assert 'id="news"' not in alice.client.get(address).content.decode()
    folder(alice, seen_at=timezone.now())
    assert 'id="news"' in alice.client.get(address).content.decode()
