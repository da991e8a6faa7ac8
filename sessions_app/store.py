"""Writing live sessions: append-only, one writer at a time, strictly in order.

Whoever writes holds the lock of the session's row until the transaction ends. What a write costs
depends on what is written, not on how long the session is: nothing that is stored is read again but
the entries that new ones name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from sessions_app.models import Session, Window
from sessions_app.transcripts.timestamps import EPOCH
from sessions_app.writer import Writer
from sessions_app.writing import (
    Appended,
    BeforeWrite,
    CannotWrite,
    Gone,
    HeadMoved,
    JsonObject,
    LiveState,
    checked_messages,
)

_READ = (
    "external_id", "version", "content_bytes", "content_lines", "entry_count", "head_id", "turn_mark",
    "workspace", "link", "linked_entries", "linked_records",
    *(f"session__{name}" for name in (
        "uuid", "team", "agent", "title", "key", "index_entry", "provider", "model", "encoding",
        "entry_count", "last_at", "is_live", "archived_at", "guard", "run", "queued", "last_event",
    )),
    *(f"session__agent__{name}" for name in (
        "uuid", "team", "name", "provider", "model", "windows", "path", "time_zone", "system_prompt",
        "tools", "skills", "flush_by", "flush_first", "config_text", "workspace",
    )),
)  # fmt: skip
"""What a write needs, and what says under which settings it is one; whoever needs more loads it then."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A live session that nobody has loaded yet: the one of a team with that uuid."""

    uuid: UUID
    team_id: int


@contextmanager
def writing(
    session: Session | Wanted, *, expected_head: str | None = None, now_ms: int | None = None
) -> Iterator[Writer]:
    """The session's writer, alone until the block ends; all or nothing of the block is stored.

    Raises:
        Gone: where there is no such session.
        CannotWrite: for a session that is not live or is archived.
        HeadMoved: when the last entry is another than ``expected_head`` ("" for none yet).
    """
    with transaction.atomic():
        window = _locked_window(session)
        if expected_head is not None and expected_head != window.head_id:
            raise HeadMoved(window.head_id or None)
        writer = Writer(window, _moment(window.session, now_ms))
        yield writer
        writer.save()


def append(
    session: Session,
    messages: Sequence[JsonObject],
    before_write: BeforeWrite,
    *,
    expected_head: str | None = None,
    now_ms: int | None = None,
) -> Appended:
    """Append messages in the order given; raises as :func:`writing` and :meth:`Writer.append`."""
    checked_messages(messages)  # before anybody has to wait for a lock
    with writing(session, expected_head=expected_head, now_ms=now_ms) as writer:
        return writer.append(messages, before_write)


def state_of(session: Session) -> LiveState:
    """What the session remembers beside its entries, as it was loaded."""
    return LiveState(session.index_entry or {}, session.guard, session.run, tuple(session.queued))


def _locked_window(session: Session | Wanted) -> Window:
    found = Window.objects.select_for_update(of=("self", "session"))
    windows = found.select_related("session__agent").only(*_READ)
    if isinstance(session, Wanted):
        own = windows.filter(session__uuid=session.uuid, session__team=session.team_id)
        own = own.filter(session__is_live=True)
    else:
        own = windows.filter(session=session.pk)
    window = own.order_by("-sequence").first()
    if window is None:
        raise Gone("The session is gone.")
    if not window.session.is_live:
        raise CannotWrite("The session was imported: a recording is never changed.")
    if window.session.archived_at is not None:
        raise CannotWrite("The session is archived.")
    return window


def _moment(session: Session, now_ms: int | None) -> int:
    """The time, but never before what the session holds, whatever the clock does."""
    now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return now if session.last_at is None else max(now, _ms(session.last_at))


def _ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)
