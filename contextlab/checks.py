"""System checks for settings that are fine one by one and wrong together."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from contextlab.env import is_set

SHORTEST_SECRET = 32


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_settings(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:
    """Every finding about the settings as they are now."""
    public = not is_loopback(settings.HOST)
    return [
        *secret_findings(),
        *(public_findings() if public else []),
        *address_findings(),
        *storage_findings(),
    ]


def secret_findings() -> list[CheckMessage]:
    """A key that can be guessed forges logins, from this machine too."""
    if not is_set("SECRET_KEY") or len(settings.SECRET_KEY) >= SHORTEST_SECRET:
        return []
    hint = (
        f"Use {SHORTEST_SECRET} random characters or more, or unset it: then one is made and kept."
    )
    return [Error("SECRET_KEY is too short.", hint, id="contextlab.E002")]


def public_findings() -> list[CheckMessage]:
    """What must be decided on purpose before other machines can reach the site."""
    found: list[CheckMessage] = []
    where = f"HOST={settings.HOST}"
    if not is_set("SECRET_KEY"):
        hint = "Set SECRET_KEY or SECRET_KEY_FILE, the same for all processes."
        found.append(Error(f"{where} without a SECRET_KEY of its own.", hint, id="contextlab.E001"))
    if not is_set("ALLOWED_HOSTS") or "*" in settings.ALLOWED_HOSTS:
        hint = "Set ALLOWED_HOSTS to the names people type, separated by commas."
        found.append(Error(f"{where} without ALLOWED_HOSTS.", hint, id="contextlab.E003"))
    if settings.DEBUG:
        hint = "Unset DEBUG: its error pages show settings and source."
        found.append(Error(f"{where} with DEBUG=1.", hint, id="contextlab.E004"))
    if not settings.SECURE:
        hint = "Put a proxy with HTTPS in front and set SECURE=1, or keep the port to yourself."
        found.append(
            Warning(f"{where} without HTTPS: logins can be read.", hint, id="contextlab.W001")
        )
    return found


def address_findings() -> list[CheckMessage]:
    """The printed address must be one that works."""
    url = urlsplit(settings.PUBLIC_URL)
    if url.scheme not in ("http", "https") or not url.hostname:
        hint = "Give it as https://name or http://name:port."
        return [Error("PUBLIC_URL is no web address.", hint, id="contextlab.E005")]
    found: list[CheckMessage] = []
    if settings.SECURE and is_set("PUBLIC_URL") and url.scheme == "http":
        hint = "With SECURE=1 people come by HTTPS: PUBLIC_URL must start with https://."
        found.append(Error("PUBLIC_URL is not HTTPS.", hint, id="contextlab.E006"))
    if url.scheme == "https" and not settings.SECURE:
        hint = "Set SECURE=1, or cookies also travel unprotected."
        found.append(Warning("PUBLIC_URL is HTTPS without SECURE=1.", hint, id="contextlab.W002"))
    return found


def storage_findings() -> list[CheckMessage]:
    """Database and broker must reach equally far."""
    sqlite = settings.DATABASE_URL.startswith("sqlite:")
    if not sqlite and not settings.REDIS_URL:
        hint = "Set REDIS_URL, or run the web server and the only worker on one machine."
        return [
            Warning(
                "PostgreSQL without REDIS_URL: the queue in DATA_DIR serves one machine.",
                hint,
                id="contextlab.W003",
            )
        ]
    redis_host = urlsplit(settings.REDIS_URL).hostname or "localhost"
    if sqlite and settings.REDIS_URL and not is_loopback(redis_host):
        hint = "Set DATABASE_URL to PostgreSQL: a SQLite file cannot be shared between machines."
        return [Warning("A shared REDIS_URL with a local SQLite file.", hint, id="contextlab.W004")]
    return []
