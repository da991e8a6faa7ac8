"""``DATABASE_URL`` as Django's database settings: SQLite or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from contextlab.env import BadSetting

# WAL lets readers go on while one writes; NORMAL is safe with it (a power cut may lose the last
# commits, never the file); IMMEDIATE takes the write lock at the start of a transaction, where
# waiting is possible, and not in its middle, where SQLite could only refuse.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,  # seconds that a writer waits for another
    "init_command": (
        "PRAGMA journal_mode=WAL;"
        "PRAGMA synchronous=NORMAL;"
        "PRAGMA temp_store=MEMORY;"
        "PRAGMA cache_size=-16000;"
        "PRAGMA mmap_size=268435456;"
        "PRAGMA journal_size_limit=67108864;"
    ),
}
ACCEPTED = "sqlite:///path/to/file or postgresql://user:password@host:port/name"


def database(url: str) -> dict[str, Any]:
    """The settings of one database; raises BadSetting, which never repeats the password."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite(parts)
    if parts.scheme in ("postgresql", "postgres"):
        return postgresql(parts)
    raise BadSetting(f"DATABASE_URL of kind {parts.scheme!r}: must be {ACCEPTED}")


def sqlite(parts: SplitResult) -> dict[str, Any]:
    """``sqlite:///relative`` or ``sqlite:////absolute``, as other Python tools read it."""
    if parts.netloc or parts.query or len(parts.path) < 2:
        raise BadSetting(f"DATABASE_URL={parts.geturl()!r}: must be {ACCEPTED}")
    path = Path(unquote(parts.path[1:])).expanduser().absolute()
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": SQLITE_OPTIONS}


def postgresql(parts: SplitResult) -> dict[str, Any]:
    """Parameters after ``?`` go to libpq as they are; ``host=/folder`` is a socket's folder."""
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    try:
        port = parts.port
    except ValueError as error:
        raise BadSetting(f"DATABASE_URL: {error}; must be {ACCEPTED}") from error
    host = unquote(parts.hostname or options.pop("host", ""))
    name = unquote(parts.path[1:])
    if not name or "/" in name:
        raise BadSetting(f"DATABASE_URL names no database: must be {ACCEPTED}")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or options.pop("port", "")),
        "OPTIONS": {"connect_timeout": 5, **options},
    }
