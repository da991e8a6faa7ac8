"""What the extra system prompt of a subagent is made of (spec compaction 7)."""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.subagent.spawn import DEFAULT_MAX_DEPTH

RULES = (
    "Stay focused",
    "Complete the task",
    "Don't initiate",
    "Be ephemeral",
    "Trust push-based completion",
    "Treat child output as evidence",
    "Recover from truncated tool output",
)


@dataclass(frozen=True, slots=True)
class SubagentPromptOutline:
    """Headings in order, the names of the rules, the lines about the session, who the parent is."""

    headings: tuple[str, ...]
    rules: tuple[str, ...]
    session_lines: tuple[str, ...]
    parent: str


def subagent_prompt_outline(
    session_key: str,
    *,
    depth: int = 1,
    max_depth: int = DEFAULT_MAX_DEPTH,
    label: str | None = None,
    requester_key: str | None = None,
    requester_channel: str | None = None,
) -> SubagentPromptOutline:
    """The outline for a child at ``depth``; the task itself is not repeated in its system prompt."""
    headings = [
        "# Subagent Context",
        "## Your Role",
        "## Rules",
        "## Output Format",
        "## What You DON'T Do",
    ]
    if depth < max_depth or depth >= 2:
        headings.append("## Sub-Agent Spawning")
    lines = []
    if label:
        lines.append(f"- Label: {label}")
    if requester_key:
        lines.append(f"- Requester session: {requester_key}.")
    if requester_channel:
        lines.append(f"- Requester channel: {requester_channel}.")
    lines.append(f"- Your session: {session_key}.")
    parent = "parent orchestrator" if depth >= 2 else "main agent"
    return SubagentPromptOutline((*headings, "## Session Context"), RULES, tuple(lines), parent)
