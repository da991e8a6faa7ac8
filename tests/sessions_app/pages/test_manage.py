"""Renaming and deleting a session."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse

from sessions_app.models import Entry, Session
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db
PARTS = ("manage-session", "rename-session", "delete-session")


@pytest.fixture
def session(alice: Person) -> Session:
    return alice.imports(short_session().data())


def test_a_session_gets_another_title(alice: Person, session: Session) -> None:
    page = alice.client.get(reverse("session", args=[session.uuid])).content.decode()
    assert reverse("manage-session", args=[session.uuid]) in page
    title = {"title": " 名字 <b>\x00 "}
    page = alice.client.post(
        reverse("rename-session", args=[session.uuid]), title, follow=True
    ).content.decode()
    assert "名字 &lt;b&gt;" in page
    assert "<h1>名字 <b>" not in page
    address = reverse("rename-session", args=[session.uuid])
    assert (
        "needs a title" in alice.client.post(address, {"title": " "}, follow=True).content.decode()
    )


def test_nothing_is_deleted_without_the_box(alice: Person, session: Session) -> None:
    address = reverse("delete-session", args=[session.uuid])
    page = alice.client.post(address, follow=True).content.decode()
    assert "Nothing was deleted" in page
    page = alice.client.post(address, {"sure": "yes"}, follow=True).content.decode()
    assert "is deleted" in page
    assert not Session.objects.exists()
    assert not Entry.objects.exists()


def test_a_deleted_session_can_be_imported_again(alice: Person, session: Session) -> None:
    alice.client.post(reverse("delete-session", args=[session.uuid]), {"sure": "yes"})
    again = alice.imports(short_session().data())
    assert again.uuid != session.uuid
    assert again.entry_count == session.entry_count


def test_other_teams_unknown_ids_and_methods(alice: Person, bob: Person, session: Session) -> None:
    for name in PARTS:
        method = bob.client.get if name == "manage-session" else bob.client.post
        for uuid in (session.uuid, uuid4()):
            assert method(reverse(name, args=[uuid]), {"sure": "yes"}).status_code == 404
    assert alice.client.post(reverse(PARTS[0], args=[session.uuid])).status_code == 405
    for name in PARTS[1:]:
        assert alice.client.get(reverse(name, args=[session.uuid])).status_code == 405
    assert Session.objects.exists()
