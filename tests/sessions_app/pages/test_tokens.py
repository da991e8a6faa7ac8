"""The page of API tokens: made and shown once, listed, revoked."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app import api_tokens
from sessions_app.models import ApiToken, Membership
from tests.api_client import ApiClient
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def make(person: Person, **fields: str) -> str:
    answer = person.client.post(reverse("tokens"), {"name": "laptop", "scope": "read", **fields})
    return answer.content.decode()


def test_a_token_is_shown_once_and_works(alice: Person) -> None:
    page = make(alice, name="<b>laptop</b>", scope="write")
    found = re.search(r"clab_[\w-]{40,}", page)
    assert found
    assert ApiClient(found[0]).call("GET", "/sessions")[0] == 200
    again = alice.client.get(reverse("tokens")).content.decode()
    assert found[0] not in again
    assert "&lt;b&gt;laptop" in again
    token = ApiToken.objects.get()
    assert (token.scope, token.team, token.user) == ("write", alice.team, alice.user)
    assert token.expires_at
    assert timedelta(days=89) < token.expires_at - timezone.now() <= timedelta(days=90)


def test_it_may_be_kept_for_ever_and_belongs_to_a_team_of_its_user(
    alice: Person, bob: Person
) -> None:
    make(alice, days="", team=str(bob.team.uuid))
    assert ApiToken.objects.get().team == alice.team, "not a team that the user is not in"
    assert ApiToken.objects.get().expires_at is None
    Membership.objects.create(team=bob.team, user=alice.user)
    make(alice, days="nonsense", team=str(bob.team.uuid))
    newest = ApiToken.objects.latest("pk")
    assert newest.team == bob.team
    assert newest.expires_at


def test_a_scope_that_does_not_exist_is_told(alice: Person) -> None:
    assert "known: read, write, admin" in make(alice, scope="root")
    assert not ApiToken.objects.exists()


def test_a_token_can_be_revoked_by_its_user_only(alice: Person, bob: Person) -> None:
    token = api_tokens.create(alice.team, alice.user, "laptop", "read")
    address = reverse("revoke-token", args=[token.row.uuid])
    assert bob.client.post(address).status_code == 404
    assert bob.client.post(reverse("revoke-token", args=[uuid4()])).status_code == 404
    assert alice.client.get(address).status_code == 405
    assert api_tokens.verify(token.secret)
    page = alice.client.post(address, follow=True).content.decode()
    assert "opens nothing any more" in page
    assert api_tokens.verify(token.secret) is None
    assert "laptop" not in bob.client.get(reverse("tokens")).content.decode()


def test_who_is_not_logged_in_sees_the_login_page(client: Client) -> None:
    assert client.get(reverse("tokens"))["Location"].startswith("/login/")


def test_without_tokens_it_says_what_to_do(alice: Person) -> None:
    assert "No tokens yet" in alice.client.get(reverse("tokens")).content.decode()
