"""A subagent of a live session is begun: whether it may be, with what context, and what it is told first.

What the runtime keeps of a subagent in its index stands in the session's entry there: ``spawnedBy``,
``spawnDepth``, ``label``, ``task``, ``status``, ``startedAt``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from compaction_app import decisions
from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision
from compaction_app.engine.subagent.spawn import (
    DEFAULT_MAX_CHILDREN,
    DEFAULT_MAX_DEPTH,
    ContextKind,
    SpawnContext,
    initial_message,
    spawn_allowed,
    spawn_context,
)
from compaction_app.engine.turn.record import StageRecord
from compaction_app.live_setup import LiveSetup
from compaction_app.models import Decision as Row
from compaction_app.run_memory import memory_of
from sessions_app import store
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Session
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_index import is_known_fresh, total_tokens

RUNNING: Final = "running"
COPIED: Final = "copiedEntries"


class SpawnForbidden(Exception):
    """The session may start no (further) subagent; ``decision`` says by which limit."""

    def __init__(self, decision: Decision) -> None:
        limits = {step.name: step.value for step in decision.steps}
        text = {
            "max_spawn_depth": f"Subagents may be nested {limits['maxSpawnDepth']} deep, and this session "
            "is that deep already; raise agents.defaults.subagents.maxSpawnDepth or let its parent start it.",
            "max_children": f"{limits['maxChildrenPerAgent']} subagents of this session are running, as "
            "many as may be; end one, or raise agents.defaults.subagents.maxChildrenPerAgent.",
        }  # fmt: skip
        super().__init__(text[decision.reason])
        self.decision = decision


@dataclass(frozen=True, slots=True)
class Task:
    """What a subagent is for. ``persistent``: it stays for further messages."""

    text: str = ""
    label: str = ""
    persistent: bool = False


@dataclass(frozen=True, slots=True)
class Spawned:
    """A subagent: its session, its depth and the most there may be, how its context begins, the first
    message that its model is to be sent, and the decision that allowed it."""

    session: Session
    depth: int
    max_depth: int
    context: SpawnContext
    first_message: str
    decision: Decision


def spawn(
    agent: Agent, parent: Session, task: Task, *, fork: bool, title: str = "", key: str = ""
) -> Spawned:
    """Begin a subagent of ``parent`` (spec compaction 7).

    Raises:
        SpawnForbidden: at a limit of depth or of running children; the decision is stored all the same.
        CannotWrite: for a parent that is archived or whose agent is gone.
    """
    with transaction.atomic():
        with store.writing(parent) as writer:
            session, setup = writer.session, LiveSetup.of(writer.session).setup
            config, depth = setup.config, depth_of(session)
            most_depth = _limit(config, "maxSpawnDepth", DEFAULT_MAX_DEPTH)
            most = _limit(config, "maxChildrenPerAgent", DEFAULT_MAX_CHILDREN)
            running = Session.objects.filter(parent=session.pk, index_entry__status=RUNNING).count()
            allowed = spawn_allowed(depth, running, setup.rules.id, most_depth, most)
            made = decisions.Made(
                memory_of(writer.state).turn, StageRecord(allowed.rule, "turn", 0, 1, allowed)
            )
            policy = decisions.policy_record(setup.policy, setup.around)
            decisions.record(
                session, [made], reading=Row.Reading.LIVE, window=writer.window, policy=policy
            )
        if allowed.fired:
            index = writer.state.index
            tokens = total_tokens(index) if is_known_fresh(index) else None
            asked: ContextKind = "fork" if fork else "isolated"
            same = session.agent_id == agent.pk
            context = spawn_context(asked, same_agent=same, parent_tokens=tokens)
            child = create_session(
                agent,
                title or task.label,
                key=key,
                parent=session,
                fork=context.kind == "fork",
                index=_entry(session, task, depth + 1),
            )
            _note_copied(child)
    if not allowed.fired:
        raise SpawnForbidden(allowed)
    first = initial_message(task.text, depth + 1, most_depth, persistent=task.persistent)
    return Spawned(child, depth + 1, most_depth, context, first, allowed)


def depth_of(session: Session) -> int:
    """How deep a session is nested: 0 for one that nobody spawned."""
    known = (session.index_entry or {}).get("spawnDepth")
    if isinstance(known, int):
        return known
    return 0 if session.parent_id is None else 1


def _entry(parent: Session, task: Task, depth: int) -> dict[str, Any]:
    told = {"label": task.label, "task": task.text}
    return {
        "spawnedBy": parent.key,
        "spawnDepth": depth,
        "status": RUNNING,
        "startedAt": time.time_ns() // 1_000_000,
        **{name: text for name, text in told.items() if text},
    }


def _note_copied(child: Session) -> None:
    """How many entries are the parent's: they are no reply of the child."""
    child.refresh_from_db()
    if child.entry_count:
        child.index_entry = {**(child.index_entry or {}), COPIED: child.entry_count}
        child.save(update_fields=["index_entry"])


def _limit(config: Mapping[str, Any], name: str, usual: int) -> int:
    given = value_at(config, "agents", "defaults", "subagents", name)
    return int(given) if js.is_finite(given) and given >= 1 else usual
