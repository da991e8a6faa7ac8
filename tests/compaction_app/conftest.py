"""Sessions in the database, and somebody who may look at them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app import loaded
from sessions_app.batches import import_files
from sessions_app.imports import Source
from sessions_app.models import Membership, Session, Team
from tests.engine.builders import Script, text_of

Bring = Callable[..., Session]


def source(name: str, text: str) -> Source:
    data = text.encode()
    return Source(name, len(data), lambda: io.BytesIO(data))


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    """What is kept in memory between requests belongs to the test that put it there."""
    from compaction_app import lost, runs

    loaded._columns.clear()
    loaded._timelines.clear()
    runs._replays.clear()
    for kept in (lost._indexes, lost._cycles, lost._ledgers, lost._tallies):
        kept.clear()  # type: ignore[attr-defined]


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="ours")


@pytest.fixture
def viewer(team: Team, client: Client) -> Client:
    """A client logged in as a member of the team."""
    user = User.objects.create_user("member")
    Membership.objects.create(team=team, user=user)
    client.force_login(user)
    return client


@pytest.fixture
def bring(team: Team, django_capture_on_commit_callbacks: Any) -> Bring:
    """Import a transcript with its configuration and its entry in the index, as an upload would."""

    def bring_in(
        script: Script,
        config: str | dict[str, Any] | None = None,
        entry: dict[str, Any] | None = None,
        name: str = "s",
        owner: Team | None = None,
    ) -> Session:
        folder = "agents/main/sessions/"
        files = [source(f"{folder}{name}.jsonl", text_of(script.entries))]
        if config is not None:
            text = config if isinstance(config, str) else json.dumps(config)
            files.append(source("openclaw.json", text))
        if entry is not None:
            index = {"agent:main:main": {"sessionId": name, **entry}}
            files.append(source(f"{folder}sessions.json", json.dumps(index)))
        with django_capture_on_commit_callbacks(execute=True):
            reports = list(import_files(owner or team, files))
        (session,) = [s for report in reports for s in report.sessions]
        session.refresh_from_db()
        return session

    return bring_in
