"""A real Chromium against the real site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from sessions_app.models import Membership, Team
from tests.browser.chromium import QUIET, chromium
from tests.conftest import missing

SAMPLES = Path(settings.BASE_DIR) / "sessions_app" / "samples"


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """One for each test: Playwright's event loop runs in the test's thread and must end with it."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    executable = chromium()
    if not executable:
        missing("Chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture
def owner(transactional_db: None) -> User:
    user = User.objects.create_superuser("owner")
    team = Team.objects.create(name="Owner")
    Membership.objects.create(team=team, user=user, role=Membership.Role.OWNER)
    return user


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, owner: User) -> Iterator[BrowserContext]:
    """A logged-in browser; a test fails on any error the page reports."""
    client = Client()
    client.force_login(owner)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    opened = browser.new_context(
        base_url=live_server.url, viewport={"width": 1440, "height": 900}, locale="en-US"
    )
    opened.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )
    yield opened
    opened.close()


def _is_complaint(message: ConsoleMessage) -> bool:
    """htmx reports requests that a newer one replaced as errors; that is its job here."""
    replaced = message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))
    return message.type == "error" and not replaced


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda m: complaints.append(m.text) if _is_complaint(m) else None)
    yield opened
    assert not complaints, complaints
