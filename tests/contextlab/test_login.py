"""Who is not logged in gets no further than the login page; a link logs in once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from contextlab.models import LoginLink
from contextlab.owner import create_owner, owner
from sessions_app.models import Membership, Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return create_owner()


def link(token: str) -> str:
    return reverse("login-link", args=[token])


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_everything_else_leads_to_the_login_page(client: Client) -> None:
    assert client.get("/admin/auth/user/")["Location"] == "/login/?next=/admin/auth/user/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/login/?next=/admin/"


def test_the_owner_has_no_password(user: User) -> None:
    assert not user.has_usable_password()
    assert user.is_superuser
    assert owner() == user


def test_the_owner_owns_the_team_that_an_earlier_import_made() -> None:
    team = Team.objects.create(name="Owner")
    membership = Membership.objects.get(user=create_owner())
    assert (membership.team, membership.role) == (team, Membership.Role.OWNER)


def test_looking_at_a_link_uses_nothing_up(client: Client, user: User) -> None:
    address = link(LoginLink.issue(user))
    for _ in range(2):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "no-store" in answer["Cache-Control"]
    assert not is_logged_in(client)


def test_a_link_logs_in_once(client: Client, user: User) -> None:
    address = link(LoginLink.issue(user))
    assert client.post(address)["Location"] == "/"
    assert is_logged_in(client)
    second = Client()
    assert second.post(address).status_code == 410
    assert second.get(address).status_code == 410
    assert not is_logged_in(second)


def test_a_link_needs_the_token_of_its_page(user: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(link(LoginLink.issue(user))).status_code == 403


def test_an_expired_link_is_refused(client: Client, user: User) -> None:
    address = link(LoginLink.issue(user))
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(address).status_code == 410


def test_a_link_of_a_disabled_user_is_refused(client: Client, user: User) -> None:
    address = link(LoginLink.issue(user))
    User.objects.update(is_active=False)
    assert client.post(address).status_code == 410


def test_an_invented_link_is_refused(client: Client, user: User) -> None:
    LoginLink.issue(user)
    assert client.post(link("x" * 43)).status_code == 410


def test_a_new_link_ends_the_one_before(client: Client, user: User) -> None:
    first, second = link(LoginLink.issue(user)), link(LoginLink.issue(user))
    assert client.post(first).status_code == 410
    assert client.post(second).status_code == 302


def test_the_token_is_stored_nowhere(user: User) -> None:
    token = LoginLink.issue(user)
    (row,) = LoginLink.objects.values_list()
    assert token not in str(row)


def test_of_two_uses_at_the_same_time_one_wins(user: User) -> None:
    token = LoginLink.issue(user)
    assert [LoginLink.use(token), LoginLink.use(token)] == [user, None]


def test_the_command_prints_a_link_of_the_owner(
    client: Client, user: User, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.PUBLIC_URL = "https://lab.example"
    call_command("login_link")
    address = capsys.readouterr().out.strip()
    assert address.startswith("https://lab.example/login/")
    client.post(address.removeprefix("https://lab.example"))
    assert client.session["_auth_user_id"] == str(user.pk)


def test_the_command_takes_another_user(user: User, capsys: pytest.CaptureFixture[str]) -> None:
    other = User.objects.create_user("other")
    call_command("login_link", "other")
    assert LoginLink.objects.get().user == other


@pytest.mark.parametrize("name", [None, "nobody"])
def test_the_command_says_when_there_is_no_such_user(name: str | None) -> None:
    with pytest.raises(CommandError, match="there is no"):
        call_command("login_link", *([name] if name else []))


def test_the_password_form_works_for_those_who_have_one(client: Client) -> None:
    User.objects.create_user("writer", password="correct horse battery")
    page = client.get("/login/")
    assert b"login_link" in page.content
    answer = client.post("/login/", {"username": "writer", "password": "correct horse battery"})
    assert answer["Location"] == "/"
    assert is_logged_in(client)


def test_logging_out_takes_a_post(client: Client, user: User) -> None:
    client.force_login(user)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert not is_logged_in(client)
