"""Settings that are wrong together are found, each under its id and with a hint."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from contextlab.checks import check_settings, is_loopback

SECRET = "x" * 50


@pytest.fixture(autouse=True)
def _nothing_set(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "ALLOWED_HOSTS", "PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    settings.HOST = "127.0.0.1"
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    settings.DEBUG = settings.SECURE = False
    settings.REDIS_URL = ""
    settings.DATABASE_URL = "sqlite:////lab.sqlite3"


def ids() -> set[str]:
    found = check_settings(None)
    assert all(message.hint for message in found)
    return {str(message.id).removeprefix("contextlab.") for message in found}


@pytest.fixture
def public(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A public site with everything right."""
    monkeypatch.setenv("SECRET_KEY", SECRET)
    monkeypatch.setenv("ALLOWED_HOSTS", "lab.example")
    monkeypatch.setenv("PUBLIC_URL", "https://lab.example")
    settings.HOST, settings.SECRET_KEY, settings.SECURE = "0.0.0.0", SECRET, True
    settings.ALLOWED_HOSTS, settings.PUBLIC_URL = ["lab.example"], "https://lab.example"


def test_the_defaults_are_fine() -> None:
    assert ids() == set()


@pytest.mark.usefixtures("public")
def test_a_public_site_with_everything_set_is_fine() -> None:
    assert ids() == set()


@pytest.mark.usefixtures("public")
def test_a_public_site_needs_a_secret_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY")
    assert ids() == {"E001"}
    monkeypatch.setenv("SECRET_KEY_FILE", "/run/secrets/key")
    assert ids() == set()


@pytest.mark.usefixtures("public")
def test_a_public_site_needs_a_long_secret_key(settings: Settings) -> None:
    settings.SECRET_KEY = "x" * 31
    assert ids() == {"E002"}


def test_a_short_secret_key_is_refused_on_loopback_too(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    settings.SECRET_KEY = "x"
    assert ids() == {"E002"}


@pytest.mark.usefixtures("public")
def test_a_public_site_needs_its_host_names(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert ids() == {"E003"}
    monkeypatch.delenv("ALLOWED_HOSTS")
    settings.ALLOWED_HOSTS = ["lab.example"]
    assert ids() == {"E003"}


@pytest.mark.usefixtures("public")
def test_a_public_site_must_not_show_its_source(settings: Settings) -> None:
    settings.DEBUG = True
    assert ids() == {"E004"}


@pytest.mark.usefixtures("public")
def test_a_public_site_without_https_is_warned(settings: Settings) -> None:
    settings.SECURE, settings.PUBLIC_URL = False, "http://lab.example"
    assert ids() == {"W001"}


def test_a_public_url_must_be_an_address(settings: Settings) -> None:
    settings.PUBLIC_URL = "lab.example"
    assert ids() == {"E005"}


def test_a_public_url_must_be_https_where_cookies_are(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBLIC_URL", "http://lab.example")
    settings.SECURE, settings.PUBLIC_URL = True, "http://lab.example"
    assert ids() == {"E006"}


def test_an_https_address_asks_for_secure_cookies(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://lab.example"
    assert ids() == {"W002"}


def test_a_shared_database_asks_for_a_shared_broker(settings: Settings) -> None:
    settings.DATABASE_URL = "postgresql://db.example/lab"
    assert ids() == {"W003"}
    settings.REDIS_URL = "redis://redis.example/0"
    assert ids() == set()


def test_a_shared_broker_asks_for_a_shared_database(settings: Settings) -> None:
    settings.REDIS_URL = "redis://redis.example/0"
    assert ids() == {"W004"}
    settings.REDIS_URL = "redis://localhost:6379/0"
    assert ids() == set()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.4", False),
        ("lab.example", False),
    ],
)
def test_only_loopback_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_the_checks_are_registered() -> None:
    from django.core.checks import registry

    registered: set[Any] = registry.registry.get_checks()
    assert check_settings in registered
