"""Errors wear the site's dress, and a part of a page sends the whole page to the login."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def client(db: None) -> Client:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.create_user("alice"))
    return browser


def test_a_missing_page_leads_back(client: Client) -> None:
    answer = client.get("/no/such/page/")
    assert answer.status_code == 404
    assert 'href="/"' in answer.content.decode() and "site" in answer.content.decode()


def test_a_form_without_its_token_says_what_to_do(client: Client) -> None:
    answer = client.post("/upload/", {})
    assert answer.status_code == 403
    page = answer.content.decode()
    assert "reload the page" in page and "<style" not in page


def test_a_part_of_a_page_sends_a_stranger_to_the_login(db: None) -> None:
    answer = Client().get("/imports/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (200, "/login/")
    assert "Location" not in answer


def test_a_page_redirects_a_stranger_to_the_login(db: None) -> None:
    answer = Client().get("/")
    assert answer.status_code == 302 and answer["Location"].startswith("/login/")
