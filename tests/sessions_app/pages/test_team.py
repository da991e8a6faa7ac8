"""Teams: members, roles, invitations."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app import teams
from sessions_app.models import Invitation, Membership
from tests.conftest import Person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def membership(person: Person, of: Person) -> Membership:
    return Membership.objects.get(team=of.team, user=person.user)


def add(person: Person, to: Person, role: str) -> Membership:
    return Membership.objects.create(team=to.team, user=person.user, role=role)


def link(person: Person, role: str = "member") -> str:
    page = person.client.post(reverse("own-team"), {"role": role, "note": "<i>Carol</i>"})
    found = re.search(r"http://testserver(/join/[\w-]+/)", page.content.decode())
    assert found, page.content.decode()
    return found[1]


def test_an_invited_user_joins_once(alice: Person, bob: Person) -> None:
    address = link(alice)
    looked = bob.client.get(address).content.decode()
    assert "Join the team Team of alice" in looked
    assert not Membership.objects.filter(team=alice.team, user=bob.user).exists(), "looking is free"
    assert "You are in the team" in bob.client.post(address, follow=True).content.decode()
    assert membership(bob, alice).role == "member"
    assert bob.client.post(address).status_code == 410
    assert "Carol" not in alice.client.get(reverse("own-team")).content.decode(), "it is used"


def test_who_has_no_account_makes_one(alice: Person, client: Client) -> None:
    address = link(alice, "admin")
    weak = client.post(address, {"username": "carol", "password1": "x", "password2": "x"})
    assert weak.status_code == 200
    assert not User.objects.filter(username="carol").exists()
    fields = {"username": "carol", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post(address, fields)["Location"] == "/"
    carol = User.objects.get(username="carol")
    assert Membership.objects.get(user=carol).role == "admin"
    assert not carol.is_staff
    assert client.get("/").status_code == 200, "logged in"


def test_joining_again_keeps_the_role(alice: Person) -> None:
    alice.client.post(link(alice, "member"))
    assert membership(alice, alice).role == "owner"


@pytest.mark.parametrize("end", ["old", "withdrawn", "inviter left", "inviter away"])
def test_an_invitation_that_is_over_lets_nobody_in(alice: Person, bob: Person, end: str) -> None:
    address = link(alice)
    if end == "old":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "withdrawn":
        uuid = Invitation.objects.get().uuid
        assert bob.client.post(reverse("withdraw", args=[uuid])).status_code == 404
        assert bob.client.post(reverse("withdraw", args=[uuid4()])).status_code == 404
        alice.client.post(reverse("withdraw", args=[uuid]))
    elif end == "inviter left":
        Membership.objects.filter(user=alice.user).delete()
    else:
        User.objects.filter(pk=alice.user.pk).update(is_active=False)
    for answer in (bob.client.get(address), bob.client.post(address)):
        assert answer.status_code == 410
    assert bob.client.get("/join/nonsense/").status_code == 410
    assert not Membership.objects.filter(team=alice.team, user=bob.user).exists()


def test_members_cannot_invite_and_admins_make_no_owners(alice: Person, bob: Person) -> None:
    add(bob, alice, "member")
    address = reverse("team", args=[alice.team.uuid])
    page = bob.client.post(address, {"role": "member"}).content.decode()
    assert "Only owners and admins" in page
    Membership.objects.filter(user=bob.user, team=alice.team).update(role="admin")
    assert "Only an owner" in bob.client.post(address, {"role": "owner"}).content.decode()
    assert "no role" in bob.client.post(address, {"role": "king"}).content.decode()
    assert not Invitation.objects.exists()


def test_roles_change_by_the_rules(alice: Person, bob: Person) -> None:
    his = add(bob, alice, "member")
    hers = membership(alice, alice)
    address = reverse("member", args=[his.pk])

    def said(person: Person, which: Membership, role: str) -> str:
        where = reverse("member", args=[which.pk])
        return person.client.post(where, {"role": role}, follow=True).content.decode()

    assert "Only owners and admins" in said(bob, hers, "member")
    assert "needs an owner" in said(alice, hers, "member")
    said(alice, his, "admin")
    assert membership(bob, alice).role == "admin"
    assert "Only an owner" in said(bob, hers, "member")
    assert "Only an owner" in said(bob, his, "owner")
    assert "no role" in said(alice, his, "king")
    assert bob.client.get(address).status_code == 405
    said(bob, his, "")
    assert not Membership.objects.filter(pk=his.pk).exists(), "who wants may leave"


def test_other_teams_are_404(alice: Person, bob: Person) -> None:
    assert bob.client.get(reverse("team", args=[alice.team.uuid])).status_code == 404
    assert bob.client.get(reverse("team", args=[uuid4()])).status_code == 404
    hers = membership(alice, alice)
    for pk in (hers.pk, 10**9):
        assert bob.client.post(reverse("member", args=[pk]), {"role": "member"}).status_code == 404
    page = alice.client.get(reverse("own-team")).content.decode()
    assert "bob" not in page


def test_only_a_digest_of_the_invitation_is_kept(alice: Person) -> None:
    made = teams.invite(alice.team, alice.user, "member")
    assert made.secret not in str(Invitation.objects.values().get())
