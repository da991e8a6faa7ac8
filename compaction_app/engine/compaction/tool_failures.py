"""Which tools failed in what is summarised, so that the failures are not forgotten (spec compaction 3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.compaction.message_text import Message, text_blocks
from sessions_app.tokens import javascript as js

MAX_FAILURES = 8
MAX_FAILURE_CHARS = 240
_ELLIPSIS = "..."
_SPACES = re.compile(f"{js.SPACE_CLASS}+")


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """A failed call: ``summary`` is one line of what the tool said, ``meta`` its status and exit code."""

    tool_call_id: str
    tool_name: str
    summary: str
    meta: str | None


def tool_failures(messages: Sequence[Message]) -> list[ToolFailure]:
    """Every failed tool result once, in order."""
    found: dict[str, ToolFailure] = {}
    for message in messages:
        call_id = message.get("toolCallId")
        if message.get("role") != "toolResult" or message.get("isError") is not True:
            continue
        if isinstance(call_id, str) and call_id and call_id not in found:
            found[call_id] = _failure(call_id, message)
    return list(found.values())


def tool_failures_section(failures: Sequence[ToolFailure]) -> str:
    """The first eight failures as a list; empty without any."""
    if not failures:
        return ""
    lines = [_line(failure) for failure in failures[:MAX_FAILURES]]
    if len(failures) > MAX_FAILURES:
        lines.append(f"- ...and {len(failures) - MAX_FAILURES} more")
    return "\n\n## Tool Failures\n" + "\n".join(lines)


def _failure(call_id: str, message: Message) -> ToolFailure:
    name = message.get("toolName")
    meta = _meta(message.get("details"))
    text = js.trim(_SPACES.sub(" ", "\n".join(text_blocks(message.get("content")))))
    if js.utf16_len(text) > MAX_FAILURE_CHARS:
        text = js.utf16_slice(text, 0, MAX_FAILURE_CHARS - len(_ELLIPSIS)) + _ELLIPSIS
    return ToolFailure(
        tool_call_id=call_id,
        tool_name=name if isinstance(name, str) and not js.is_blank(name) else "tool",
        summary=text or ("failed" if meta else "failed (no output)"),
        meta=meta,
    )


def _meta(details: Any) -> str | None:
    if not isinstance(details, Mapping):
        return None
    status, exit_code = details.get("status"), details.get("exitCode")
    parts = []
    if isinstance(status, str) and status:
        parts.append(f"status={status}")
    if js.is_finite(exit_code):
        parts.append(f"exitCode={js.number_text(exit_code)}")
    return " ".join(parts) or None


def _line(failure: ToolFailure) -> str:
    meta = f" ({failure.meta})" if failure.meta else ""
    return f"- {failure.tool_name}{meta}: {failure.summary}"
