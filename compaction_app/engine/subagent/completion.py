"""How a requester is told of finished subagents (spec compaction 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.engine.compaction.instructions import data_block
from compaction_app.engine.subagent.output import is_silent_output
from sessions_app.tokens import javascript as js

CONTEXT_BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
CONTEXT_END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
EVENT_BREAK = "\n\n---\n\n"
NO_OUTPUT = "(no output)"

_HEADER = (
    "OpenClaw runtime context (internal):",
    "This context is runtime-generated, not user-authored. Keep internal details private.",
)
_REWRITTEN = {
    CONTEXT_BEGIN: "[[OPENCLAW_INTERNAL_CONTEXT_BEGIN]]",
    CONTEXT_END: "[[OPENCLAW_INTERNAL_CONTEXT_END]]",
}
_SPACES = re.compile(f"{js.SPACE_CLASS}+")


def status_text(status: str | None, error: str | None = None) -> str:
    """How the end of a run is named in its event."""
    match status:
        case "ok":
            return "completed; ready for parent review"
        case "timeout":
            return "timed out"
        case "error":
            return f"failed: {error or 'unknown error'}"
    return "finished with unknown status"


def completion_block(events: Sequence[Mapping[str, Any]]) -> str:
    """The internal message about finished tasks; empty without any."""
    if not events:
        return ""
    body = EVENT_BREAK.join(map(_event, events))
    return "\n".join((CONTEXT_BEGIN, *_HEADER, "", body, CONTEXT_END))


def child_findings(children: Sequence[Mapping[str, Any]]) -> str | None:
    """The results of all children in the order they were made; none when all keep silent."""
    newest: dict[Any, Mapping[str, Any]] = {}
    for child in children:
        key = child.get("childSessionKey")
        if key not in newest or _created(child) >= _created(newest[key]):
            newest[key] = child
    shown = [child for child in sorted(newest.values(), key=_created) if not _keeps_silent(child)]
    if not shown:
        return None
    sections = (_finding(number, child) for number, child in enumerate(shown, 1))
    return "\n\n".join(("Child completion results:", "", *sections))


def _event(event: Mapping[str, Any]) -> str:
    fields = (
        ("source", "source", "unknown"),
        ("session_key", "childSessionKey", "unknown"),
        ("session_id", "childSessionId", "unknown"),
        ("type", "announceType", "unknown"),
        ("task", "taskLabel", "unnamed task"),
        ("status", "statusLabel", "unknown"),
    )
    lines = ["[Internal task completion event]"]
    lines += [f"{label}: {_one_line(event.get(key)) or usual}" for label, key, usual in fields]
    lines += ["", _result(_safe(event.get("result")))]
    if stats := _safe(event.get("statsLine")):
        lines += ["", stats]
    return "\n".join((*lines, "", "Action:", _safe(event.get("replyInstruction"))))


def _finding(number: int, child: Mapping[str, Any]) -> str:
    names = (child.get("label"), child.get("task"), child.get("childSessionKey"))
    title = next((js.trim(n) for n in names if isinstance(n, str) and not js.is_blank(n)), "child")
    return f"{number}. {title}\nstatus: {_outcome(child)}\n{_result(_text(child))}"


def _outcome(child: Mapping[str, Any]) -> str:
    outcome = child.get("outcome") or {}
    match outcome.get("status"):
        case "ok" | "timeout" as status:
            return str(status)
        case "error":
            return f"error: {outcome.get('error') or 'unknown error'}"
    return "unknown"


def _keeps_silent(child: Mapping[str, Any]) -> bool:
    return _outcome(child) == "ok" and is_silent_output(_text(child))


def _text(child: Mapping[str, Any]) -> str:
    text = (child.get("completion") or {}).get("resultText")
    return text if isinstance(text, str) else ""


def _created(child: Mapping[str, Any]) -> float:
    created = child.get("createdAt")
    return created if js.is_finite(created) else 0


def _result(text: str) -> str:
    shown = NO_OUTPUT if js.is_blank(text) else text
    return data_block("Child result", shown, "prompt-data", 0)


def _one_line(value: Any) -> str:
    return js.trim(_SPACES.sub(" ", _safe(value)))


def _safe(value: Any) -> str:
    """A text that cannot end the block it stands in."""
    text = value if isinstance(value, str) else ""
    for delimiter, harmless in _REWRITTEN.items():
        text = text.replace(delimiter, harmless)
    return text
