"""The life of a live session: begun, alone or below another one, archived, deleted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from sessions_app.hidden_secrets import hide
from sessions_app.models import Agent, Session, Window
from sessions_app.payload import pack
from sessions_app.rows import branch_records, storable, storable_json
from sessions_app.store import writing
from sessions_app.tokens import javascript as js
from sessions_app.tokens.exact import encoding_for
from sessions_app.tombstones import bury
from sessions_app.transcripts.timestamps import iso_text

VERSION = 3
TITLE_CHARS = 200


def create_session(
    agent: Agent,
    title: str = "",
    *,
    key: str = "",
    parent: Session | None = None,
    fork: bool = False,
    index: Mapping[str, Any] | None = None,
    now_ms: int | None = None,
) -> Session:
    """A new live session of an agent.

    Args:
        key: its session key; ``agent:<name>:<uuid>`` when empty, ``agent:<name>:subagent:<uuid>`` below
            a parent.
        parent: the session that starts it as its subagent. With ``fork`` it begins with the parent's
            active branch, as stored; isolated it begins empty.
        index: what its object in ``sessions.json`` begins with.
    """
    identity = uuid.uuid4()
    now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    header = js.json_text(
        {"type": "session", "version": VERSION, "id": str(identity), "timestamp": iso_text(now)}
    ).encode()
    with transaction.atomic():
        session = Session.objects.create(
            uuid=identity,
            team_id=agent.team_id,
            agent=agent,
            title=storable(hide(title), TITLE_CHARS) or f"{agent.name} · {str(identity)[:8]}",
            key=storable(key, 300) or _key(agent, identity, parent),
            index_entry=storable_json({"sessionId": str(identity), **(index or {})}),
            provider=agent.provider,
            model=agent.model,
            encoding=encoding_for(agent.model),
            is_live=True,
            parent=parent,
            spawned=_spawned(parent, fork),
        )
        Window.objects.create(
            session=session,
            external_id=str(identity),
            version=VERSION,
            header=pack(header),
            source_name=f"{identity}.jsonl",
            content_bytes=len(header) + 1,
            content_lines=1,
        )
        if parent is not None and fork:
            _copy_branch(parent, session, now)
    return session


def archive_session(session: Session) -> None:
    """Nothing more is written; everything stays to be read. A second time changes nothing."""
    Session.objects.filter(pk=session.pk, archived_at=None).update(archived_at=timezone.now())


def rename_session(session: Session, title: str) -> bool:
    """Another title; whether there was one among the blanks."""
    title = storable(hide(title.replace("\x00", "").strip()), TITLE_CHARS)
    if not title:
        return False
    session.title = title
    session.save(update_fields=["title"])
    return True


def delete_session(session: Session, by: str = "") -> None:
    """The session and all that hangs on it; a tombstone says that it was, and who deleted it (``by``).

    Its subagents stay, without a parent.
    """
    with transaction.atomic():
        bury(session, by)
        session.delete()


def _key(agent: Agent, identity: uuid.UUID, parent: Session | None) -> str:
    kind = "subagent:" if parent is not None else ""
    return f"agent:{agent.name}:{kind}{identity}"


def _spawned(parent: Session | None, fork: bool) -> str:
    if parent is None:
        return Session.Spawned.NO
    return Session.Spawned.FORK if fork else Session.Spawned.ISOLATED


def _copy_branch(parent: Session, child: Session, now_ms: int) -> None:
    window = parent.windows.order_by("-sequence").first()
    if window is None:
        return
    with writing(child, now_ms=now_ms) as writer:
        writer.append_entries(branch_records(window))
