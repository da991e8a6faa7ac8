"""``DATABASE_URL`` becomes Django's settings, or one clear refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlab.database import database
from contextlab.env import BadSetting


def test_sqlite_takes_absolute_paths() -> None:
    settings = database("sqlite:////var/lib/contextlab/db%20one.sqlite3")
    assert settings["NAME"] == Path("/var/lib/contextlab/db one.sqlite3")
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_sqlite_takes_relative_paths() -> None:
    assert database("sqlite:///some/db.sqlite3")["NAME"] == Path.cwd() / "some/db.sqlite3"


def test_postgresql_takes_all_parts() -> None:
    settings = database("postgresql://me:p%40ss%2Fword@db.example:5433/lab?sslmode=require")
    assert settings["ENGINE"] == "django.db.backends.postgresql"
    assert (settings["USER"], settings["PASSWORD"]) == ("me", "p@ss/word")
    assert (settings["HOST"], settings["PORT"], settings["NAME"]) == ("db.example", "5433", "lab")
    assert settings["OPTIONS"] == {"connect_timeout": 5, "sslmode": "require"}


def test_postgresql_takes_a_socket_folder() -> None:
    settings = database("postgresql:///lab?host=/run/postgresql&port=5433")
    assert (settings["HOST"], settings["PORT"]) == ("/run/postgresql", "5433")
    assert settings["OPTIONS"] == {"connect_timeout": 5}


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:secret@host/lab",
        "lab.sqlite3",
        "sqlite://lab.sqlite3",
        "sqlite:///",
        "postgresql://me:secret@host",
        "postgresql://me:secret@host:port/lab",
        "postgresql://me:secret@host/lab/more",
    ],
)
def test_other_urls_are_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"DATABASE_URL.*must be sqlite:///") as refused:
        database(url)
    assert "secret" not in str(refused.value)
