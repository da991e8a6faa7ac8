"""Teams, memberships, invitations and tokens in the admin: no secret shows, no team loses its owner."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from sessions_app import api_tokens, teams
from sessions_app.models import ApiToken, Invitation, Membership, Team
from tests.admin_pages import (
    HOSTILE,
    costs_the_same,
    list_of,
    page_of,
    refuses_changes,
    superuser,
    text_at,
)
from tests.conftest import Person


@pytest.fixture
def root(db: None) -> Client:
    return superuser()


def test_a_token_shows_neither_itself_nor_its_digest(root: Client, alice: Person) -> None:
    new = api_tokens.create(alice.team, alice.user, HOSTILE, "read")
    for page in (list_of(ApiToken), page_of(new.row)):
        text = text_at(root, page)
        assert new.row.shown in text
        assert new.row.digest not in text
        assert new.secret not in text
    refuses_changes(root, new.row)


def test_a_token_is_revoked_once_and_that_is_logged(root: Client, alice: Person) -> None:
    new = api_tokens.create(alice.team, alice.user, "agent", "read")
    for _ in range(2):
        chosen = {"action": "revoke", "_selected_action": [new.row.pk]}
        root.post(list_of(ApiToken), chosen)
    assert api_tokens.verify(new.secret) is None
    assert LogEntry.objects.filter(change_message="Revoked.").count() == 1


def test_an_invitation_shows_no_link_and_cannot_be_changed(root: Client, alice: Person) -> None:
    new = teams.invite(alice.team, alice.user, "member", HOSTILE)
    for page in (list_of(Invitation), page_of(new.row)):
        text = text_at(root, page)
        assert new.row.digest not in text
        assert new.secret not in text
    refuses_changes(root, new.row)


def test_a_team_is_renamed_and_never_deleted(root: Client, alice: Person) -> None:
    root.post(page_of(alice.team), {"name": HOSTILE})
    alice.team.refresh_from_db()
    assert alice.team.name == HOSTILE
    text_at(root, list_of(Team))
    gone = page_of(alice.team).replace("/change/", "/delete/")
    assert root.post(gone, {"post": "yes"}).status_code == 403
    assert "delete_selected" not in text_at(root, list_of(Team))


def test_a_member_gets_another_role_but_the_last_owner_keeps_theirs(
    root: Client, alice: Person
) -> None:
    own = Membership.objects.get(user=alice.user)
    refused = root.post(page_of(own), {"role": "member"})
    assert "A team needs an owner" in refused.text
    guest = User.objects.create_user("guest")
    added = {"team": alice.team.pk, "user": guest.pk, "role": "owner"}
    assert root.post(f"{list_of(Membership)}add/", added).status_code == 302
    assert root.post(page_of(own), {"role": "member"}).status_code == 302
    own.refresh_from_db()
    assert own.role == Membership.Role.MEMBER
    assert LogEntry.objects.filter(object_id=str(own.pk)).exists()


def test_a_membership_asks_for_ids_instead_of_listing_all_teams(
    root: Client, alice: Person
) -> None:
    page = text_at(root, f"{list_of(Membership)}add/")
    assert alice.team.name not in page
    own = Membership.objects.get(user=alice.user)
    assert 'name="team"' not in text_at(root, page_of(own))


def test_everything_is_found_by_the_id_of_its_team(root: Client, alice: Person) -> None:
    api_tokens.create(alice.team, alice.user, "agent", "read")
    teams.invite(alice.team, alice.user, "member")
    for model in (Team, Membership, Invitation, ApiToken):
        assert "<tbody>" in text_at(root, list_of(model), {"q": str(alice.team.uuid)})
        assert "<tbody>" not in text_at(root, list_of(model), {"q": str(alice.user.pk)})


def test_lists_cost_as_many_queries_for_many_rows_as_for_few(root: Client, alice: Person) -> None:
    def tokens(count: int) -> None:
        for n in range(count):
            api_tokens.create(alice.team, alice.user, str(n), "read")

    def invitations(count: int) -> None:
        for _ in range(count):
            teams.invite(alice.team, alice.user, "member")

    def members(count: int) -> None:
        for _ in range(count):
            user = User.objects.create_user(f"member{User.objects.count()}")
            team = Team.objects.create(name=user.username)
            Membership.objects.create(team=team, user=user)

    costs_the_same(root, ApiToken, tokens)
    costs_the_same(root, Invitation, invitations)
    costs_the_same(root, Membership, members)


def test_the_list_of_teams_does_so_too(root: Client) -> None:
    costs_the_same(root, Team, lambda count: [Team.objects.create(name=str(n)) for n in range(count)])  # fmt: skip


def test_nobody_else_comes_in(alice: Person) -> None:
    for model in (Team, Membership, Invitation, ApiToken):
        assert alice.client.get(list_of(model)).status_code == 302
