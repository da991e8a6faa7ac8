"""Everything is loaded by team."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404

from sessions_app import access
from sessions_app.models import Membership, Session, Team
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def session(team: Team) -> Session:
    return Session.objects.create(team=team, title="x")


def test_only_the_own_teams_things_are_visible(alice: Person, bob: Person) -> None:
    mine, theirs = session(alice.team), session(bob.team)
    assert list(access.visible(Session.objects.all(), alice.user)) == [mine]
    assert access.load(Session.objects.all(), alice.user, mine.uuid) == mine
    for uuid in (theirs.uuid, uuid4()):
        with pytest.raises(Http404, match="No such session"):
            access.load(Session.objects.all(), alice.user, uuid)


def test_a_member_of_two_teams_sees_both_once(alice: Person, bob: Person) -> None:
    Membership.objects.create(team=bob.team, user=alice.user)
    session(alice.team), session(bob.team)
    assert access.visible(Session.objects.all(), alice.user).count() == 2
    assert access.visible(Session.objects.all(), bob.user).count() == 1
    assert access.team_of(alice.user) == alice.team


def test_nobody_sees_nothing_not_even_of_a_team_without_members() -> None:
    session(Team.objects.create(name="Without members"))
    assert not access.visible(Session.objects.all(), AnonymousUser()).exists()
    assert not access.visible(Session.objects.all(), User.objects.create_user("lonely")).exists()


def test_who_belongs_to_no_team_gets_one_of_their_own_once(alice: Person) -> None:
    lonely = User.objects.create_user("lonely")
    team = access.team_of(lonely)
    assert (team.name, access.team_of(lonely)) == ("lonely", team)
    mine = session(team)
    assert list(access.visible(Session.objects.all(), lonely)) == [mine]
    assert not access.visible(Session.objects.all(), alice.user).exists()
