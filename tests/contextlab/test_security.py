"""What every answer promises to the browser."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from contextlab.models import LoginLink
from contextlab.owner import create_owner

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return create_owner()


def policy(client: Client, address: str) -> dict[str, str]:
    header = client.get(address)["Content-Security-Policy"]
    return {name: rest for name, _, rest in (part.partition(" ") for part in header.split("; "))}


def test_the_policy_allows_nothing_inline_and_nothing_foreign(client: Client) -> None:
    assert policy(client, "/login/") == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }


def test_answers_carry_the_protecting_headers(client: Client) -> None:
    answer = client.get("/login/")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"


def test_cookies_are_closed_to_scripts_and_other_sites(client: Client, user: User) -> None:
    client.post(f"/login/{LoginLink.issue(user)}/")
    client.get("/login/")
    for name, cookie in client.cookies.items():
        assert cookie["httponly"], name
        assert cookie["samesite"] == "Lax", name


def test_a_foreign_host_name_is_refused(client: Client) -> None:
    assert client.get("/login/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("address", ["/admin/", "/admin/auth/user/", "/admin/auth/user/add/"])
def test_the_admin_needs_nothing_that_the_policy_forbids(
    client: Client, user: User, address: str
) -> None:
    client.force_login(user)
    answer = client.get(address)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\b(src|type=.application/json.)\b)", page)
    assert not re.search(r"<style|\son\w+=|\sstyle=", page)


def test_the_icon_is_there_for_everybody(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"] == "/static/img/mark.svg"


def test_pages_are_compressed(client: Client, user: User) -> None:
    client.force_login(user)
    answer = client.get("/admin/auth/user/add/", headers={"accept-encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
