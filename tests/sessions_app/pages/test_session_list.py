"""The list of sessions: what it finds, how it is ordered, and whose sessions it shows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import Job, Session
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def titles(person: Person, **query: object) -> list[str]:
    html = person.client.get("/", query).content.decode()
    return re.findall(r'<th scope="row"><a href="[^"]*">([^<]*)</a>', html)


def session(person: Person, title: str, **fields: object) -> Session:
    found = Session.objects.create(team=person.team, title=title)
    Session.objects.filter(pk=found.pk).update(**fields)
    return found


def test_without_sessions_it_says_what_to_do_next(alice: Person) -> None:
    html = alice.client.get("/").content.decode()
    assert "No sessions yet" in html
    assert "import_sessions" in html
    assert 'type="file"' in html


def test_a_session_shows_its_numbers(alice: Person) -> None:
    found = alice.imports(short_session().data(), "my-notes.jsonl")
    html = alice.client.get("/").content.decode()
    assert reverse("session", args=[found.uuid]) in html
    assert "my-notes" in html
    assert "claude-opus-4-5" in html
    assert "4 calls, peak 1,180 tokens" in html
    assert "2026-01-01 00:00" in html


def test_sessions_of_other_teams_are_not_there(alice: Person, bob: Person) -> None:
    session(bob, "secret plans")
    session(alice, "mine")
    assert titles(alice) == ["mine"]
    assert titles(alice, q="secret") == []
    assert titles(bob) == ["secret plans"]


def test_who_is_not_logged_in_sees_the_login_page(client: Client) -> None:
    for name in ("sessions", "imports"):
        assert client.get(reverse(name))["Location"].startswith("/login/")


def test_it_searches_titles_models_and_keys(alice: Person) -> None:
    session(alice, "Alpha", model="claude-opus")
    session(alice, "Beta", key="agent:main:telegram")
    session(alice, "100%")
    assert titles(alice, q="alph") == ["Alpha"]
    assert titles(alice, q="OPUS") == ["Alpha"]
    assert titles(alice, q="telegram") == ["Beta"]
    assert titles(alice, q="%") == ["100%"]
    assert titles(alice, q="  beta ") == ["Beta"]
    assert titles(alice, q="be\x00ta") == ["Beta"]
    html = alice.client.get("/", {"q": "<script>"}).content.decode()
    assert "No session matches" in html
    assert "<script>”" not in html


def test_it_sorts(alice: Person) -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    now = timezone.now()
    session(alice, "a", peak_tokens=5, entry_count=1, last_at=None, imported_at=now)
    session(alice, "b", peak_tokens=9, entry_count=3, last_at=day, imported_at=now - timedelta(1))
    session(
        alice, "c", peak_tokens=7, entry_count=2, last_at=day + timedelta(1),
        imported_at=now - timedelta(2),
    )  # fmt: skip
    assert titles(alice) == ["a", "b", "c"]
    assert titles(alice, sort="recent") == ["a", "b", "c"]
    assert titles(alice, sort="tokens") == ["b", "c", "a"]
    assert titles(alice, sort="entries") == ["b", "c", "a"]
    assert titles(alice, sort="activity") == ["c", "b", "a"]
    assert titles(alice, sort="title") == ["a", "b", "c"]
    assert titles(alice, sort="nonsense; drop") == ["a", "b", "c"]


def test_a_second_click_on_a_heading_turns_the_order_around(alice: Person) -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    session(alice, "a", last_at=None, peak_tokens=2)
    session(alice, "b", last_at=day, peak_tokens=1)
    session(alice, "c", last_at=day + timedelta(1), peak_tokens=3)
    assert titles(alice, sort="-title") == ["c", "b", "a"]
    assert titles(alice, sort="-tokens") == ["b", "a", "c"]
    assert titles(alice, sort="-activity") == ["b", "c", "a"], "unknown stands last either way"
    first = alice.client.get("/", {"sort": "tokens"}).content.decode()
    assert 'href="?sort=-tokens"' in first
    assert 'aria-sort="descending"' in first
    second = alice.client.get("/", {"sort": "-tokens"}).content.decode()
    assert 'href="?sort=tokens"' in second
    assert 'aria-sort="ascending"' in second


def test_it_says_by_what_it_is_sorted(alice: Person) -> None:
    session(alice, "a")
    html = alice.client.get("/", {"sort": "title"}).content.decode()
    assert html.count("aria-sort") == 1
    assert 'aria-sort="ascending"' in html
    assert 'aria-sort="descending"' in alice.client.get("/", {"sort": "tokens"}).content.decode()


def test_it_comes_in_pages_that_keep_the_search(alice: Person) -> None:
    for number in range(60):
        session(alice, f"run {number:02}")
    assert len(titles(alice, sort="title")) == 50
    assert titles(alice, sort="title", page=2)[0] == "run 50"
    html = alice.client.get("/", {"q": "run", "sort": "title"}).content.decode()
    assert "1 to 50 of 60" in html
    assert re.search(r'rel="next" href="\?q=run&amp;sort=title&amp;page=2"', html)


@pytest.mark.parametrize("page", ["0", "-1", "999", "x", "9" * 40])
def test_a_page_that_is_not_there_is_the_nearest_one(alice: Person, page: str) -> None:
    session(alice, "only")
    assert titles(alice, page=page) == ["only"]


def test_it_asks_the_database_as_often_for_thirty_sessions_as_for_three(alice: Person) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            alice.client.get("/")
        return len(captured)

    for number in range(3):
        alice.imports(short_session(f"s{number}").data())
    few = queries()
    for number in range(3, 30):
        alice.imports(short_session(f"s{number}").data())
    assert queries() == few


def test_a_fragment_is_only_the_table(alice: Person) -> None:
    session(alice, "one")
    html = alice.client.get("/", headers={"HX-Target": "sessions"}).content.decode()
    assert "<table" in html
    assert "<html" not in html


def test_hostile_titles_are_text(alice: Person) -> None:
    session(alice, "<script>alert(1)</script>", model='"><img src=x>')
    html = alice.client.get("/").content.decode()
    assert "<script>alert" not in html
    assert "<img src=x>" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_damage_and_missing_usage_are_said(alice: Person) -> None:
    chain = short_session()
    for record in chain.records[1:]:
        record["message"].pop("usage", None)
    alice.imports(chain.data() + b"garbage\n")
    html = alice.client.get("/").content.decode()
    assert "1 problem in the file" in html
    assert "estimates only" in html


# Imports in progress


def test_imports_ask_for_themselves_again_while_there_are_any(alice: Person, bob: Person) -> None:
    Job.objects.create(team=bob.team, kind="import", title="bobs", state="running", total=9)
    html = alice.client.get(reverse("imports")).content.decode()
    assert "bobs" not in html
    assert "delay" not in html
    job = Job.objects.create(team=alice.team, kind="import", title="<b>big</b>", total=9)
    html = alice.client.get(reverse("imports")).content.decode()
    assert "&lt;b&gt;big" in html
    assert "waiting for a worker" in html
    assert 'hx-trigger="load delay:700ms"' in html
    found = alice.imports(short_session().data())
    job.state = "succeeded"
    job.result = {
        "files": [
            {"name": "x.jsonl", "status": "imported", "error": "", "sessions": [str(found.uuid)]}
        ]
    }
    job.save()
    html = alice.client.get(reverse("imports")).content.decode()
    assert reverse("session", args=[found.uuid]) in html
    assert "delay" not in html


def test_a_failed_import_says_why(alice: Person) -> None:
    Job.objects.create(
        team=alice.team, kind="import", title="x", state="failed", error="disk <full>"
    )
    assert "disk &lt;full&gt;" in alice.client.get("/").content.decode()


def test_imports_of_long_ago_are_gone(alice: Person) -> None:
    past = timezone.now() - timedelta(hours=1)
    Job.objects.create(team=alice.team, kind="import", title="long ago", created_at=past)
    assert "long ago" not in alice.client.get("/").content.decode()
