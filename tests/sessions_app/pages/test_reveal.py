"""Secrets are shown to owners and admins who ask for it, and it is noted who did."""

from __future__ import annotations

import pytest
from django.urls import reverse

from sessions_app.models import Membership, Reveal, Session
from tests.api_client import api_of
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def session(alice: Person) -> Session:
    chain = short_session()
    chain.user(f"the key is {KEY}")
    return alice.imports(chain.data())


def address(session: Session, seq: int = 8) -> str:
    return reverse("reveal-entry", args=[session.uuid, seq])


def test_the_page_hides_says_so_and_offers_to_show(alice: Person, session: Session) -> None:
    page = alice.client.get(reverse("entry", args=[session.uuid, 8])).text
    assert KEY not in page
    assert "[masked: GitHub token " in page
    assert "1 secret hidden on this page" in page
    assert address(session) in page


def test_an_owner_sees_it_and_is_noted(alice: Person, session: Session) -> None:
    answer = alice.client.post(address(session))
    assert KEY in answer.text
    assert "no-store" in answer["Cache-Control"]
    (note,) = Reveal.objects.all()
    assert (note.user, note.by, note.team) == (alice.user, "alice", alice.team)
    assert note.what == "entry 8 of session"
    assert "entry 8 of session" in alice.client.get(reverse("team", args=[alice.team.uuid])).text


def test_a_member_sees_nothing_and_nothing_is_noted(alice: Person, session: Session) -> None:
    Membership.objects.filter(user=alice.user).update(role=Membership.Role.MEMBER)
    answer = alice.client.post(address(session))
    assert answer.status_code == 403
    assert KEY not in answer.text
    assert not Reveal.objects.exists()
    page = alice.client.get(reverse("entry", args=[session.uuid, 8])).text
    assert "Owners and admins of the team can see them." in page


def test_looking_alone_shows_nothing(alice: Person, session: Session) -> None:
    assert alice.client.get(address(session)).status_code == 405


def test_others_and_missing_entries_are_404(alice: Person, bob: Person, session: Session) -> None:
    assert bob.client.post(address(session)).status_code == 404
    assert alice.client.post(address(session, 99)).status_code == 404
    assert bob.client.post(reverse("reveal-export", args=[session.uuid])).status_code == 404
    assert not Reveal.objects.exists()


def test_the_export_hides_and_the_noted_one_does_not(alice: Person, session: Session) -> None:
    def body(answer: object) -> str:
        return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]

    assert KEY not in body(alice.client.get(reverse("export", args=[session.uuid])))
    assert KEY in body(alice.client.post(reverse("reveal-export", args=[session.uuid])))
    assert [note.what for note in Reveal.objects.all()] == ["export of session"]


def test_the_api_hides_and_shows_to_tokens_of_admins(alice: Person, session: Session) -> None:
    path = f"/sessions/{session.uuid}"
    reader, admin = api_of(alice.team), api_of(alice.team, "admin")
    assert KEY not in reader.request("GET", f"{path}/entries").content.decode()
    assert reader.call("POST", f"{path}/entries/8/reveal")[0] == 403
    assert reader.call("GET", f"{path}/export?originals=true")[0] == 403
    assert not Reveal.objects.exists()
    status, entry = admin.call("POST", f"{path}/entries/8/reveal")
    assert status == 200
    assert KEY in str(entry)
    assert admin.call("POST", f"{path}/entries/99/reveal")[0] == 404
    exported = admin.request("GET", f"{path}/export?originals=true")
    assert KEY.encode() in b"".join(exported.streaming_content)
    assert [note.what for note in Reveal.objects.order_by("pk")] == ["entry 8 of session", "export of session"]  # fmt: skip
    assert all("token test" in note.by for note in Reveal.objects.all())


def test_the_note_outlives_its_session(alice: Person, session: Session) -> None:
    alice.client.post(address(session))
    session.delete()
    assert [note.what for note in Reveal.objects.all()] == ["entry 8 of session"]


def test_a_title_never_holds_one(alice: Person, session: Session) -> None:
    alice.client.post(reverse("rename-session", args=[session.uuid]), {"title": f"with {KEY}"})
    session.refresh_from_db()
    assert KEY not in session.title
    assert session.title.startswith("with [masked: GitHub token ")
