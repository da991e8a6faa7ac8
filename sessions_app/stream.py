"""What happens to sessions, as it happens: server-sent events out of the outbox.

A process has one reader for all who listen. It is woken by whoever wrote in this process, by Redis
where there is one, and otherwise looks once a second; it asks for the numbers of the watched sessions
in one query. Nobody's events are kept in memory: a listener that was woken reads its own from the
outbox, from where it stands.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from weakref import WeakKeyDictionary

from django.db import Error, connection
from django.db.models import Max
from django.utils import timezone

from sessions_app.events import AT_A_TIME, events_after
from sessions_app.hidden_secrets import showing
from sessions_app.masking import mask_all
from sessions_app.models import Event, Session
from sessions_app.pool import in_pool

LOOK_SECONDS: Final = 1.0
PING_SECONDS: Final = 15.0
RETRY_MS: Final = 2_000
STILL_HERE: Final = b": still here\n\n"
SETTLED: Final = timedelta(minutes=1)
"""Rows of different sessions can be committed in another order than they are numbered in. After this
time no transaction with an older row is open any more."""

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Watch:
    """Somebody who waits: for a session's number to pass ``after``, or for any row behind it."""

    session: int | None
    after: int
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Reader:
    """Wakes those who wait. One per event loop; it ends when nobody waits."""

    def __init__(self) -> None:
        self._watches: set[_Watch] = set()
        self._look = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def wait(self, session: int | None, after: int, seconds: float) -> bool:
        """Whether something came within ``seconds``."""
        watch = _Watch(session, after)
        self._watches.add(watch)
        if self._task is None or self._task.done():
            if _listen is not None:
                _listen()
            self._task = asyncio.get_running_loop().create_task(self._run())
        try:
            await asyncio.wait_for(watch.woken.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self._watches.discard(watch)
        return True

    def look(self) -> None:
        """Look now; to be called on the loop."""
        self._look.set()

    async def _run(self) -> None:
        while self._watches:
            try:
                for watch in await in_pool(_moved, frozenset(self._watches)):
                    watch.woken.set()
            except Error as error:  # whoever waits must not be left alone by one failed look
                log.warning("looking for events failed, again in a second: %s", error)
            try:
                await asyncio.wait_for(self._look.wait(), LOOK_SECONDS)
            except TimeoutError:
                continue
            finally:
                self._look.clear()


_listen: Callable[[], None] | None = None


def listen_with(listen: Callable[[], None]) -> None:
    """The upper floor says how this process hears of what others write; called before anybody waits."""
    global _listen
    _listen = listen


_readers: WeakKeyDictionary[asyncio.AbstractEventLoop, Reader] = WeakKeyDictionary()


def reader() -> Reader:
    """The reader of the running loop."""
    return _readers.setdefault(asyncio.get_running_loop(), Reader())


def wake(**_: Any) -> None:
    """Let all readers of this process look now; from any thread."""
    for loop, each in list(_readers.items()):
        if not loop.is_closed():
            loop.call_soon_threadsafe(each.look)


def _moved(watches: Iterable[_Watch]) -> list[_Watch]:
    """Those whose wait is over; who waits for a session that is gone is woken to see that."""
    sessions = {watch.session for watch in watches if watch.session is not None}
    numbers = dict(Session.objects.filter(pk__in=sessions).values_list("pk", "last_event"))
    newest = 0
    if any(watch.session is None for watch in watches):
        newest = Event.objects.aggregate(newest=Max("pk"))["newest"] or 0
    return [
        watch
        for watch in watches
        if (newest if watch.session is None else numbers.get(watch.session, watch.after + 1))
        > watch.after
    ]


Allowed = Callable[[], bool]
"""Whether who listens may still do so; asked before every look."""


async def session_stream(session: Session, after: int, allowed: Allowed) -> AsyncIterator[bytes]:
    """The events of a session behind number ``after``; the numbers are the ids to resume by.

    It ends with the session, and for who may not listen any more.
    """
    yield f"retry: {RETRY_MS}\n\n".encode()
    while await in_pool(allowed):
        events = await in_pool(_masked, session, after)
        for event in events:
            after = event.sequence
            yield message(str(after), event.kind, {"sequence": after, **event.data})
        if events:
            continue
        if not await reader().wait(session.pk, after, PING_SECONDS):
            yield STILL_HERE
        elif not await in_pool(_is_there, session.pk):
            yield message(str(after), "gone", {})
            return


async def team_stream(team: int, after: int | None, allowed: Allowed) -> AsyncIterator[bytes]:
    """The events of all sessions of a team, from now or from behind row ``after``.

    The id of a message is a row that all older ones have been committed before, so that resuming misses
    none. With SQLite, which has one writer at a time, that is the event's own; otherwise it is an older one,
    and resuming may repeat some events: session and sequence tell them apart.
    """
    settled = await in_pool(_settled) if after is None else after
    sent = set(await in_pool(_rows, team, settled)) if after is None else set()
    yield f"retry: {RETRY_MS}\n\n".encode()  # whoever has this misses nothing that follows
    while await in_pool(allowed):
        # Both before reading: what comes meanwhile ends the wait, and is not passed over.
        newest, passed = await in_pool(_newest), await in_pool(_settled)
        rows = await in_pool(_team_events, team, settled, AT_A_TIME + len(sent))
        events = [event for event in rows if event.pk not in sent]
        for event in events:
            data = {"session": str(event.session.uuid), "sequence": event.sequence, **event.data}
            yield message(str(event.pk if _one_writer() else settled), event.kind, data)
            sent.add(event.pk)
        if len(rows) == AT_A_TIME + len(sent) - len(events):  # there may be more
            passed = min(passed, rows[-1].pk)
        settled = max(settled, passed)
        sent = {row for row in sent if row > settled}
        if not events and not await reader().wait(None, newest, PING_SECONDS):
            yield STILL_HERE


def message(id: str, kind: str, data: dict[str, Any]) -> bytes:
    """One server-sent event; JSON keeps every line break out of it."""
    name = "".join(kind.split())
    return f"id: {id}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _masked(session: Session, after: int) -> list[Event]:
    return [_shown(event, session) for event in events_after(session, after)]


def _shown(event: Event, session: Session) -> Event:
    """An event with its texts as a viewer may see them."""
    showing(session)
    event.data = mask_all(event.data)
    return event


def _is_there(pk: int) -> bool:
    return Session.objects.filter(pk=pk).exists()


def _newest() -> int:
    return int(Event.objects.aggregate(newest=Max("pk"))["newest"] or 0)


def _one_writer() -> bool:
    """Whether rows are committed in the order of their numbers."""
    return connection.vendor == "sqlite"


def _settled() -> int:
    """The newest row that no row before it can follow any more."""
    if _one_writer():
        return _newest()
    old = Event.objects.filter(at__lt=timezone.now() - SETTLED).order_by("-at")
    return old.values_list("pk", flat=True).first() or 0


def _rows(team: int, after: int) -> list[int]:
    found = Event.objects.filter(session__team=team, pk__gt=after)
    return list(found.values_list("pk", flat=True))


def _team_events(team: int, after: int, limit: int) -> list[Event]:
    found = Event.objects.filter(session__team=team, pk__gt=after).select_related("session")
    return [_shown(event, event.session) for event in found.order_by("pk")[:limit]]
