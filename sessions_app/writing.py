"""What is handed in and out when a live session is written: plain values, no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

JsonObject = Mapping[str, Any]


class CannotWrite(Exception):
    """The session takes nothing: it is no live one, it is archived, or it is gone."""


class Gone(CannotWrite):
    """There is no such session, or not any more."""


class BadMessage(ValueError):
    """A message that cannot be stored; ``number`` counts from 0 among those that were sent."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"Message {number}: {reason}")
        self.number, self.reason = number, reason


class HeadMoved(Exception):
    """The session has grown since the writer looked; ``head`` is the id of its last entry now."""

    def __init__(self, head: str | None) -> None:
        super().__init__(f"The last entry is {head!r} now.")
        self.head = head


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a session remembers beside its entries; the floor above gives it its meaning.

    ``index`` is its object in ``sessions.json`` (totals, counters, marks), ``guard`` what the session
    guard remembers, ``run`` what the run that is going on has spent, ``queued`` what the next prompt
    tells the model.
    """

    index: JsonObject = field(default_factory=dict)
    guard: JsonObject = field(default_factory=dict)
    run: JsonObject = field(default_factory=dict)
    queued: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a message becomes on its way into the store.

    ``items`` are stored in this order: messages (with a ``role``) or entries (with a ``type``).
    ``own`` is the place of the message itself among them, none when it is left out; ``reason`` says
    why, or ``stored``. ``changes`` tell what was done to it.
    """

    items: tuple[JsonObject, ...]
    own: int | None
    reason: str = "stored"
    changes: tuple[JsonObject, ...] = ()


BeforeWrite = Callable[[JsonObject, LiveState, int], tuple[Verdict, LiveState]]
"""Asked for each message, in order: the message, the state, the time in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a sent message: the id it is stored under (none: ``reason`` says why), and the
    ids of entries that were stored because of it, before or behind it. ``tokens`` estimates all that was
    stored (characters / 4), ``billed`` is what the provider counted for the call it answers: prompt and
    answer."""

    id: str | None
    added: tuple[str, ...]
    reason: str
    changes: tuple[JsonObject, ...] = ()
    tokens: int = 0
    billed: int | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """What one append did. ``head`` is the id of the last entry, ``first_seq`` the number of the first
    new entry, ``entries`` how many there are now, ``tokens`` the estimate of what was added, ``event``
    the newest event's number."""

    receipts: tuple[Receipt, ...]
    head: str | None
    first_seq: int
    entries: int
    tokens: int
    event: int


def store_as_sent(message: JsonObject, state: LiveState, now_ms: int) -> tuple[Verdict, LiveState]:
    """The guard of a session without one: every message is stored as it is."""
    return Verdict((message,), 0), state


def checked_messages(messages: Sequence[object]) -> list[JsonObject]:
    """The messages, if each is one.

    Raises:
        BadMessage: for the first that is no object with a ``role``.
    """
    checked = []
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadMessage(number, "must be an object.")
        if not isinstance(message.get("role"), str) or not message["role"]:
            raise BadMessage(number, 'needs a "role", a text such as "user".')
        checked.append(message)
    return checked
