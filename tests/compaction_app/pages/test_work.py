"""Compact and flush by button, their records, and the models of a team."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from compaction_app.models import CompactionRecord, FlushRecord, ModelConnection
from compaction_app.sealed import Unreadable, unseal
from compaction_app.tasks import compact_session, flush_session
from sessions_app.live_sessions import archive_session
from sessions_app.models import Job, Session
from tests.compaction_app.compacting import talk
from tests.compaction_app.live import live_session
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person, Settings
from tests.summarisers.loopback import openai_stream, serving

pytestmark = pytest.mark.django_db

KEY = "sk-very-secret-0123456789"
FORM: dict[str, Any] = {
    "name": "mine",
    "kind": "openai",
    "base_url": "http://127.0.0.1:11434/v1",
    "model": "llama",
    "key": KEY,
    "takes_tools": "on",
    "stall_seconds": "60",
}


@pytest.fixture
def own(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def post(person: Person, name: str, *args: Any, **form: str) -> Any:
    return person.client.post(reverse(name, args=args), form)


@pytest.mark.parametrize(
    ("typed", "focus"),
    [
        ("", ""),
        ("/compact", ""),
        ("/compact  the schema", "the schema"),
        ("the ports", "the ports"),
    ],
)
def test_a_compaction_is_queued_with_its_focus(
    alice: Person, own: Session, typed: str, focus: str
) -> None:
    answer = post(alice, "compact", own.uuid, focus=typed)
    job = Job.objects.get(kind="compaction")
    assert answer.url == reverse("job", args=[job.uuid])
    assert job.arguments["instructions"] == focus


def test_a_flush_is_queued(alice: Person, own: Session) -> None:
    assert post(alice, "flush", own.uuid).status_code == 302
    assert Job.objects.get().kind == "flush"


def test_a_focus_that_is_too_long_is_refused(alice: Person, own: Session) -> None:
    answer = alice.client.post(
        reverse("compact", args=[own.uuid]), {"focus": "x" * 4_001}, follow=True
    )
    assert b"4,000 characters" in answer.content
    assert not Job.objects.filter(kind="compaction").exists()


def test_an_archived_session_is_left_alone(alice: Person, own: Session) -> None:
    archive_session(own)
    for name in ("compact", "flush"):
        answer = alice.client.post(reverse(name, args=[own.uuid]), follow=True)
        assert b"archived" in answer.content
    assert not Job.objects.filter(kind__in=("compaction", "flush")).exists()


def test_the_session_page_offers_both_and_shows_what_was_made(alice: Person, own: Session) -> None:
    url = reverse("session", args=[own.uuid])
    html = alice.client.get(url).content.decode()
    assert reverse("compact", args=[own.uuid]) in html and "on a copy" not in html
    worked(alice, own)
    html = alice.client.get(url).content.decode()
    for name, record in records():
        assert reverse(name, args=[record.uuid]) in html


def worked(person: Person, session: Session) -> None:
    post(person, "compact", session.uuid, focus=f"keep {HOSTILE}")
    post(person, "flush", session.uuid)
    for job in Job.objects.all():
        {"compaction": compact_session, "flush": flush_session}.get(job.kind, print)(str(job.uuid))


def records() -> list[tuple[str, Any]]:
    return [
        ("compaction-record", CompactionRecord.objects.get()),
        ("flush-record", FlushRecord.objects.get()),
    ]


def test_the_records_tell_every_step_and_escape_what_they_hold(alice: Person) -> None:
    session = live_session(alice)
    talk(session)
    with serving(openai_stream(f"Summary {HOSTILE}")) as server:
        ModelConnection.objects.create(
            team=alice.team, name="mine", kind="openai", base_url=f"{server.url}/v1", model="m"
        )
        assert session.agent is not None
        session.agent.compaction_summariser = session.agent.flush_summariser = "mine"
        session.agent.save()
        worked(alice, session)
    for name, record in records():
        answer = alice.client.get(reverse(name, args=[record.uuid]))
        html = answer.content.decode()
        assert answer.status_code == 200
        assert HOSTILE not in html and "&lt;script&gt;" in html
        assert "1: answered" in html and "mine" in html
    html = alice.client.get(reverse("compaction-record", args=[records()[0][1].uuid])).content
    assert b"Portions" in html and b"Focus: keep" in html


def test_a_compaction_that_failed_has_a_page_as_well(alice: Person, own: Session) -> None:
    assert own.agent is not None
    ModelConnection.objects.create(
        team=alice.team, name="mine", kind="openai", base_url="http://127.0.0.1:9/v1", model="m",
        sealed_key="of another key",
    )  # fmt: skip
    own.agent.compaction_summariser = "mine"
    own.agent.save()
    CompactionRecord.objects.all().delete()
    post(alice, "compact", own.uuid)
    compact_session(str(Job.objects.get().uuid))
    for record in CompactionRecord.objects.all():
        answer = alice.client.get(reverse("compaction-record", args=[record.uuid]))
        assert answer.status_code == 200


def test_records_and_sessions_of_others_are_not_there(
    alice: Person, bob: Person, own: Session
) -> None:
    worked(alice, own)
    for name, record in records():
        assert bob.client.get(reverse(name, args=[record.uuid])).status_code == 404
    for name in ("compact", "flush"):
        assert post(bob, name, own.uuid).status_code == 404
        assert alice.client.get(reverse(name, args=[own.uuid])).status_code == 405


# Models


def test_a_model_is_added_and_its_key_is_sealed(alice: Person) -> None:
    assert "No models yet" in alice.client.get(reverse("connections")).content.decode()
    answer = alice.client.post(reverse("connections"), FORM, follow=True)
    made = ModelConnection.objects.get()
    assert KEY not in made.sealed_key and unseal(made.sealed_key) == KEY
    html = answer.content.decode()
    assert KEY not in html and "mine" in html
    page = alice.client.get(reverse("connection", args=[made.uuid])).content.decode()
    assert KEY not in page and made.sealed_key not in page and "A key is stored" in page
    assert KEY not in repr(made.chat_model().endpoint)


def test_an_empty_key_keeps_the_stored_one(alice: Person) -> None:
    alice.client.post(reverse("connections"), FORM)
    made = ModelConnection.objects.get()
    url = reverse("connection", args=[made.uuid])
    assert alice.client.post(url, {**FORM, "key": "", "model": "other"}).status_code == 302
    made.refresh_from_db()
    assert (made.model, unseal(made.sealed_key)) == ("other", KEY)


def test_a_key_does_not_follow_to_another_server(alice: Person) -> None:
    alice.client.post(reverse("connections"), FORM)
    made = ModelConnection.objects.get()
    url = reverse("connection", args=[made.uuid])
    elsewhere = {**FORM, "key": "", "base_url": "http://evil.example/v1"}
    answer = alice.client.post(url, elsewhere)
    assert answer.status_code == 422 and b"Enter the key again" in answer.content
    made.refresh_from_db()
    assert made.base_url == FORM["base_url"]
    assert alice.client.post(url, {**elsewhere, "key": "sk-2"}).status_code == 302


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "extractive", "has this name already"),
        ("name", "two words", "valid"),
        ("name", "", "required"),
        ("base_url", "ftp://x/v1", "begin with http"),
        ("base_url", "http://user:pw@x.example/v1", "no password here"),
        ("base_url", "nonsense", "begin with http"),
        ("base_url", "http://x:99999/v1", "name a server"),
        ("base_url", "http://[::1/v1", "name a server"),
        ("key", "two words", "one word"),
        ("key", "schlüssel", "one word"),
        ("stall_seconds", "0", "From 1 to 600"),
        ("max_output", "-1", "greater than"),
        ("input_price", "much", "number"),
        ("kind", "carrier-pigeon", "valid choice"),
    ],
)
def test_what_cannot_be_is_refused(alice: Person, field: str, value: str, said: str) -> None:
    answer = alice.client.post(reverse("connections"), {**FORM, field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert KEY not in answer.content.decode()
    assert not ModelConnection.objects.exists()


def test_a_name_is_taken_once_in_a_team(alice: Person, bob: Person) -> None:
    for person in (alice, bob):
        assert person.client.post(reverse("connections"), FORM).status_code == 302
    assert alice.client.post(reverse("connections"), FORM).status_code == 422
    assert ModelConnection.objects.count() == 2


def test_models_of_others_are_not_there(alice: Person, bob: Person) -> None:
    alice.client.post(reverse("connections"), FORM)
    made = ModelConnection.objects.get()
    assert b"mine" not in bob.client.get(reverse("connections")).content
    assert bob.client.get(reverse("connection", args=[made.uuid])).status_code == 404
    assert bob.client.post(reverse("connection", args=[made.uuid]), FORM).status_code == 404
    assert post(bob, "connection-delete", made.uuid).status_code == 404
    assert alice.client.get(reverse("connection-delete", args=[made.uuid])).status_code == 405
    assert alice.client.put(reverse("connections")).status_code == 405
    post(alice, "connection-delete", made.uuid)
    assert not ModelConnection.objects.exists()


def test_a_key_of_another_site_cannot_be_read(alice: Person, settings: Settings) -> None:
    alice.client.post(reverse("connections"), FORM)
    settings.SECRET_KEY = "another key of this site, long enough for it"
    with pytest.raises(Unreadable, match="enter it again"):
        ModelConnection.objects.get().chat_model()
