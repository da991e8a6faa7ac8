"""Whether a subagent may be started, and with what context it begins (spec compaction 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.decision import Decision, Step
from sessions_app.tokens import javascript as js

DEFAULT_MAX_DEPTH = 1
DEFAULT_MAX_CHILDREN = 5
MAX_FORK_TOKENS = 100_000
RESERVED_NAMES = frozenset({"all", "last"})

SpawnMode = Literal["run", "session"]
ContextKind = Literal["isolated", "fork"]

_TASK_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TaskName:
    """A valid name, or the error; neither for a name that was not given."""

    name: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SpawnContext:
    """What the child starts with; ``note`` says why it is not what was asked for."""

    kind: ContextKind
    reason: str
    note: str | None = None


def spawn_allowed(
    depth: int,
    active_children: int,
    rule_set: str,
    max_depth: int = DEFAULT_MAX_DEPTH,
    max_children: int = DEFAULT_MAX_CHILDREN,
) -> Decision:
    """Whether a caller at ``depth`` with that many running children may start another."""
    if depth >= max_depth:
        reason = "max_spawn_depth"
    elif active_children >= max_children:
        reason = "max_children"
    else:
        reason = "allowed"
    fired = reason == "allowed"
    return Decision(
        rule="subagent_spawn",
        fired=fired,
        outcome="spawn" if fired else "forbid",
        reason=reason,
        rule_set=rule_set,
        inputs={"depth": depth, "activeChildren": active_children},
        steps=(
            Step("maxSpawnDepth", "depth < maxSpawnDepth", max_depth, "count"),
            Step(
                "maxChildrenPerAgent", "activeChildren < maxChildrenPerAgent", max_children, "count"
            ),
        ),
    )


def task_name(value: object) -> TaskName:
    """Check the name a task is given; white space around it does not count."""
    name = js.trim(value) if isinstance(value, str) else ""
    if not name:
        return TaskName()
    if _TASK_NAME.fullmatch(name) is None:
        return TaskName(
            error=f'Invalid taskName "{name}". Use 1-64 chars matching [a-z][a-z0-9_-]*.'
        )
    if name in RESERVED_NAMES:
        return TaskName(
            error=f'Invalid taskName "{name}". Reserved subagent targets cannot be used as '
            "taskName values."
        )
    return TaskName(name)


def spawn_mode(requested: str | None, *, thread_requested: bool) -> SpawnMode:
    """The mode asked for; else a lasting session for a thread, and a single run otherwise."""
    if requested in ("run", "session"):
        return "session" if requested == "session" else "run"
    return "session" if thread_requested else "run"


def spawn_context(
    requested: ContextKind, *, same_agent: bool, parent_tokens: float | None
) -> SpawnContext:
    """Fork the parent's history only within one agent and while it is not too large."""
    if requested == "isolated":
        return SpawnContext("isolated", "isolated_requested")
    if not same_agent:
        return SpawnContext("isolated", "other_agent")
    if parent_tokens is not None and parent_tokens > MAX_FORK_TOKENS:
        return SpawnContext(
            "isolated",
            "parent_too_large",
            f"Parent context is too large to fork ({js.number_text(parent_tokens)}/"
            f"{MAX_FORK_TOKENS} tokens); starting with isolated context instead.",
        )
    return SpawnContext("fork", "forked")


def initial_message(task: str, depth: int, max_depth: int, *, persistent: bool) -> str:
    """The first user message of a subagent."""
    parts = [
        f"[Subagent Context] You are running as a subagent (depth {depth}/{max_depth}). Results "
        "auto-announce to your requester; do not busy-poll for status."
    ]
    if persistent:
        parts.append(
            "[Subagent Context] This subagent session is persistent and remains available for "
            "thread follow-up messages."
        )
    if not js.is_blank(task):
        parts += ["[Subagent Task]", js.trim(task)]
    return "\n\n".join((*parts, "Begin. Execute the assigned task to completion."))
