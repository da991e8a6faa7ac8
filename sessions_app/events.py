"""The outbox: what happened to a session, numbered without gaps in the order in which it was committed.

The number is taken from the session's row while that row is locked, so whoever has seen number n and
asks for what came later misses nothing, however transactions end. A waker (Redis, a poll) only says
that looking pays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from sessions_app import signals
from sessions_app.models import Event, Session
from sessions_app.rows import storable_json

AT_A_TIME = 500


def next_event(session: Session, kind: str, data: Mapping[str, Any]) -> Event:
    """An event that is not saved yet. The session's row must be locked, and be saved afterwards."""
    session.last_event += 1
    return Event(
        session=session, sequence=session.last_event, kind=kind, data=storable_json(dict(data))
    )


def announce(session: Session, kind: str, data: Mapping[str, Any]) -> Event:
    """Note something that happened to a session, under a lock of its own.

    Inside a transaction the lock is held to its end. ``session`` itself stays as it was loaded.
    """
    with transaction.atomic():
        locked = Session.objects.select_for_update().only("last_event").get(pk=session.pk)
        event = next_event(locked, kind, data)
        event.save()
        locked.save(update_fields=["last_event"])
        tell(locked)
    return event


def tell(session: Session) -> None:
    """Wake the readers of the session's events once this transaction is committed."""
    transaction.on_commit(lambda: signals.session_told.send(Session, session=session))


def events_after(session: Session, sequence: int, limit: int = AT_A_TIME) -> Sequence[Event]:
    """What happened after event number ``sequence``, oldest first."""
    found = Event.objects.filter(session=session, sequence__gt=sequence)
    return list(found.order_by("sequence")[:limit])
