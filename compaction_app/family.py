"""A session's parents and children (subagents) as a tree, each with its own budget.

The runtime tells a parent of a finished child by a run whose prompt is not stored: an answer that follows a
finished answer directly (runs 2). That answer is the announcement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Q

from compaction_app.engine.simulation.inputs import path_of_key
from sessions_app.models import Entry, Session

SUBAGENT: Final = ":subagent:"
DEEPEST: Final = 8
MOST: Final = 200
_LIST: Final = ("uuid", "title", "key", "index_entry", "summary", "facts", "peak_tokens", "entry_count", "last_at", "parent", "agent", "team")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Announcement:
    """The answer by which a parent was told: its number and its time."""

    seq: int
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """One session of a family. ``depth`` counts from the root; ``announced`` is where its parent was
    told, none where that is not seen; ``window`` and ``lines`` are its own budget, in tokens."""

    session: Session
    depth: int
    is_shown: bool
    window: int | None
    lines: Mapping[str, int]
    path: str
    parent: Session | None
    announced: Announcement | None

    @property
    def label(self) -> str:
        """What the parent called it, else its title."""
        given = (self.session.index_entry or {}).get("label")
        return str(given) if isinstance(given, str) and given else self.session.title

    @property
    def fill(self) -> float | None:
        return self.session.peak_tokens / self.window if self.window else None


def family(session: Session) -> list[Member]:
    """The tree that a session belongs to, parents before their children; empty for one alone."""
    root = _root(session)
    members = list(_tree(root, session))
    return members if len(members) > 1 else []


def _root(session: Session) -> Session:
    at, seen = session, {session.pk}
    for _ in range(DEEPEST):
        parent = _parent(at)
        if parent is None or parent.pk in seen:
            break
        seen.add(parent.pk)
        at = parent
    return at


def _parent(session: Session) -> Session | None:
    own = Session.objects.filter(team=session.team_id)
    if session.parent_id is not None:
        return own.filter(pk=session.parent_id).first()
    spawner = (session.index_entry or {}).get("spawnedBy")
    if not isinstance(spawner, str) or not spawner:
        return None
    return own.filter(agent=session.agent_id, key=spawner).order_by("-pk").first()


def _children(parents: Sequence[Session]) -> list[Session]:
    """The children of all of them, oldest first; only keys of subagents are looked at."""
    by_key = Q(pk__in=())
    for parent in parents:
        if parent.key:
            by_key |= Q(
                team=parent.team_id,
                agent=parent.agent_id,
                key__contains=SUBAGENT,
                index_entry__spawnedBy=parent.key,
            )
    found = Session.objects.filter(by_key | Q(parent__in=[parent.pk for parent in parents]))
    return list(found.only(*_LIST).order_by("last_at", "pk")[:MOST])


def _tree(root: Session, shown: Session) -> Iterator[Member]:
    below: dict[int, list[Session]] = {}
    known = {root.pk: root}
    level = [root]
    for _ in range(DEEPEST):
        children = [child for child in _children(level) if child.pk not in known]
        for child in children:
            known[child.pk] = child
            below.setdefault(_parent_among(child, level).pk, []).append(child)
        level = children
        if not level or len(known) > MOST:
            break
    yield from _walk(root, None, 0, below, shown, None)


def _parent_among(child: Session, level: Iterable[Session]) -> Session:
    spawner = (child.index_entry or {}).get("spawnedBy")
    return next(
        one
        for one in level
        if child.parent_id == one.pk or (child.parent_id is None and one.key == spawner)
    )


def _walk(
    session: Session,
    parent: Session | None,
    depth: int,
    below: Mapping[int, list[Session]],
    shown: Session,
    announced: Announcement | None,
) -> Iterator[Member]:
    summary: dict[str, Any] = session.summary or {}
    lines = {name: tokens for name, tokens in (summary.get("lines") or {}).items() if name != "window"}  # fmt: skip
    window = summary.get("window") or None
    path = path_of_key(session.key)
    yield Member(session, depth, session.pk == shown.pk, window, lines, path, parent, announced)
    children = below.get(session.pk, [])
    told = announcements(session, children) if children else []
    for child, where in zip(children, told, strict=True):
        yield from _walk(child, session, depth + 1, below, shown, where)


def announcements(parent: Session, children: Sequence[Session]) -> list[Announcement | None]:
    """Where a parent was told of each child: its first run without a prompt after the child's end that
    no other child has."""
    free = list(_runs_without_prompt(parent))
    found: list[Announcement | None] = []
    for child in children:
        ended = _ms(child.last_at)
        match = next(
            (run for run in free if ended is None or run.at_ms is None or run.at_ms >= ended), None
        )
        if match is not None:
            free.remove(match)
        found.append(match)
    return found


def _runs_without_prompt(session: Session) -> Iterator[Announcement]:
    window = session.windows.order_by("-sequence").first()
    rows = Entry.objects.filter(window=window, type="message").order_by("seq")
    after_end = False
    for seq, role, stop, mark, at_ms in rows.values_list("seq", "role", "stop_reason", "mark", "at_ms"):  # fmt: skip
        is_answer = role == "assistant" and mark == ""
        if is_answer and after_end:
            yield Announcement(seq, at_ms)
        after_end = is_answer and stop == "stop"


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.astimezone(UTC).timestamp() * 1000)
