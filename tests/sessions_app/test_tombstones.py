"""What is left of a deleted session: that it was, by whom it went, and its last digest."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client

from sessions_app import store, tombstones
from sessions_app.live_sessions import create_session, delete_session
from sessions_app.models import Agent, Session, Team, Tombstone
from sessions_app.writing import store_as_sent
from tests.admin_pages import costs_the_same, list_of, page_of, refuses_changes, superuser, text_at
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def live(team: Team) -> Session:
    session = create_session(Agent.objects.create(team=team, name="main", is_live=True))
    store.append(session, [{"role": "user", "content": "secret words"}], store_as_sent)
    return session


def test_a_deleted_session_leaves_its_last_digest_and_nothing_it_said(alice: Person) -> None:
    session = live(alice.team)
    window = session.windows.get()
    ends = tombstones.chain_ends(session)
    delete_session(session, "alice")

    stone = Tombstone.objects.get()
    assert stone.session_uuid == session.uuid
    assert (stone.team_uuid, stone.entries, stone.deleted_by) == (alice.team.uuid, 1, "alice")
    assert bytes(stone.digest) == tombstones.digest_of(ends)
    end = stone.chains[f"window {window.uuid}"]
    assert end == {"entries": 1, "records": 0, "link": bytes(window.link).hex()}
    assert "secret" not in str(Tombstone.objects.values().get())


def test_whoever_deletes_it(alice: Person) -> None:
    session = live(alice.team)
    address = f"/sessions/{session.uuid}/delete/"
    assert alice.client.post(address, {"sure": "yes"}).status_code == 302
    other = live(alice.team)
    alice.team.delete()  # its sessions go with it

    assert list(Tombstone.objects.values_list("session_uuid", "deleted_by")) == [
        (session.uuid, alice.user.username),
        (other.uuid, ""),
    ]
    assert list(tombstones.broken_stones()) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sessions_app_tombstone SET deleted_by = 'nobody' WHERE id = {}",
        "UPDATE sessions_app_tombstone SET entries = 7 WHERE id = {}",
        "UPDATE sessions_app_tombstone SET chains = '{{}}' WHERE id = {}",
        "DELETE FROM sessions_app_tombstone WHERE id = {}",
    ],
)
def test_no_tombstone_can_be_changed_or_taken_away_unseen(alice: Person, change: str) -> None:
    for _ in range(3):
        delete_session(live(alice.team))
    assert list(tombstones.broken_stones()) == []
    middle = Tombstone.objects.order_by("pk")[1]
    with connection.cursor() as cursor:
        cursor.execute(change.format(middle.pk))

    (said,) = tombstones.broken_stones()
    assert "tombstone of session" in said


def test_the_admin_shows_them_and_changes_none(alice: Person) -> None:
    root: Client = superuser()
    sessions = [live(alice.team) for _ in range(2)]
    for session in sessions:
        assert tombstones.digest_of(tombstones.chain_ends(session)).hex() in text_at(
            root, page_of(session)
        )
        delete_session(session, "alice")
    stone = Tombstone.objects.get(session_uuid=sessions[0].uuid)

    assert bytes(stone.digest).hex() in text_at(root, page_of(stone))
    found = text_at(root, list_of(Tombstone), {"q": str(sessions[0].uuid)})
    assert str(sessions[0].uuid) in found
    assert str(sessions[1].uuid) not in found
    refuses_changes(root, stone)
    costs_the_same(
        root,
        Tombstone,
        lambda number: [delete_session(live(alice.team)) for _ in range(number)],
    )
