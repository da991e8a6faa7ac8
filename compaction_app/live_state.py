"""A live session as the engine's turns start from it: as much of its end as they can look at.

What is loaded depends on the context's size, not on the session's: the context begins with what the
last compaction kept. Besides, the checks before a turn read the end of the file, 1 MiB of it (spec
budgets 5.6), so at least that much is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.last_usage import RECENT_BYTES, RECENT_MESSAGES
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.turn.state import SessionState
from sessions_app import store
from sessions_app.models import Entry, Session, Window
from sessions_app.payload import record_of, unpack
from sessions_app.writing import LiveState

BATCH_ROWS = 200


@dataclass(frozen=True, slots=True)
class _Row:
    seq: int
    parent: int | None
    kind: str
    kept: int | None
    record: dict[str, Any]
    size: int

    @property
    def is_prompt(self) -> bool:
        message = self.record.get("message")
        return isinstance(message, dict) and message.get("role") == "user"


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A live session as it was at one moment: its head, its end for the engine, what it remembers."""

    session: Session
    window: Window
    head: str | None
    state: SessionState
    memory: LiveState


def load_live(session: Session, rules: RuleSet) -> LiveSession:
    """The session as it is stored now, without a lock."""
    window = Window.objects.select_related("session__agent").filter(session=session.pk)
    return load_window(window.order_by("-sequence")[0], rules)


def load_window(window: Window, rules: RuleSet, memory: LiveState | None = None) -> LiveSession:
    """The session whose window was loaded, or locked; ``memory`` where it has changed since."""
    memory = memory or store.state_of(window.session)
    rows = _tail(
        window,
        reads_all=rules.preflight is not None and not rules.preflight.reads_end_only,
        wants_prompt=bool(memory.run.get("open")),
    )
    path = _path(rows)
    entry_bytes = sum(row.size for row in rows)
    state = SessionState(
        entries=tuple(row.record for row in rows),
        index=memory.index,
        header_bytes=window.content_bytes - entry_bytes,
        entry_bytes=entry_bytes,
        branch=tuple(row.record for row in path),
        queued=memory.queued,
    )
    return LiveSession(window.session, window, window.head_id or None, state, memory)


def _tail(window: Window, *, reads_all: bool, wants_prompt: bool) -> list[_Row]:
    """The end of the window, in order: the whole context, the prompt of a turn that goes on, and what
    the checks may read."""
    rows: list[_Row] = []
    reach, size, messages = _Reach(window.entry_count - 1), 0, 0
    for row in _backwards(window):
        rows.append(row)
        reach.take(row)
        size += row.size
        messages += row.kind == "message"
        wants_prompt = wants_prompt and not row.is_prompt
        looked_back = not wants_prompt and (size > RECENT_BYTES or messages > RECENT_MESSAGES)
        if looked_back and reach.holds_context and not reads_all:
            break
    return rows[::-1]


class _Reach:
    """Whether rows, taken newest first, hold the branch down to what its last compaction kept."""

    def __init__(self, leaf: int) -> None:
        self._next: int | None = leaf
        self._kept: int | None = None
        self.holds_context = leaf < 0

    def take(self, row: _Row) -> None:
        if row.seq != self._next:
            return
        if self._kept is None and row.kind == "compaction":
            self._kept = row.seq if row.kept is None else row.kept
        self._next = row.parent
        at_end = row.parent is None or (self._kept is not None and row.seq <= self._kept)
        self.holds_context = self.holds_context or at_end


def _backwards(window: Window) -> Iterator[_Row]:
    names = ("seq", "parent_seq", "type", "kept_seq", "payload")
    before = window.entry_count
    while before > 0:
        found = Entry.objects.filter(window=window, seq__lt=before, seq__gte=before - BATCH_ROWS)
        for seq, parent, kind, kept, payload in found.order_by("-seq").values_list(*names):
            yield _Row(seq, parent, kind, kept, record_of(payload), len(unpack(payload)) + 1)
        before -= BATCH_ROWS


def _path(rows: list[_Row]) -> list[_Row]:
    """The active branch as far as it was loaded, oldest first."""
    if not rows:
        return []
    first, path = rows[0].seq, [rows[-1]]
    while (parent := path[-1].parent) is not None and parent >= first:
        path.append(rows[parent - first])
    return path[::-1]
