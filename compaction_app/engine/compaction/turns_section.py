"""How turns that are kept beside a summary are written into it (spec compaction 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.engine.compaction.message_text import Message, readable_text
from sessions_app.tokens import javascript as js

MAX_TURN_CHARS = 600
SPLIT_TURN_HEADING = "**Turn Context (split turn):**\n\n"
PRESERVED_HEADING = "\n\n## Recent turns preserved verbatim\n"


def preserved_turns_section(messages: Sequence[Message]) -> str:
    """The recent turns word for word, each cut to 600 characters; empty when none has content."""
    lines = _lines(messages)
    return PRESERVED_HEADING + "\n".join(lines) if lines else ""


def split_turn_section(messages: Sequence[Message]) -> str:
    """The beginning of a split turn as lines, where no model summarises it."""
    lines = _lines(messages)
    return SPLIT_TURN_HEADING + "\n".join(lines) if lines else ""


def _lines(messages: Sequence[Message]) -> list[str]:
    labelled = ((_label(message), _shown(message)) for message in messages)
    return [f"- {label}: {shown}" for label, shown in labelled if label and shown]


def _label(message: Message) -> str | None:
    role = message.get("role")
    if role == "toolResult":
        name = message.get("toolName")
        return (
            f"Tool result ({name if isinstance(name, str) and not js.is_blank(name) else 'tool'})"
        )
    return {"user": "User", "assistant": "Assistant"}.get(role) if isinstance(role, str) else None


def _shown(message: Message) -> str:
    parts = (readable_text(message), _placeholder(message.get("content")))
    shown = "\n".join(part for part in parts if part)
    if js.utf16_len(shown) <= MAX_TURN_CHARS:
        return shown
    return js.utf16_slice(shown, 0, MAX_TURN_CHARS) + "..."


def _placeholder(content: Any) -> str:
    """Names what a message holds besides text, each kind with its count."""
    if isinstance(content, Mapping):
        return "[non-text content]"
    if not isinstance(content, list):
        return ""
    kinds = Counter(_kind(block) for block in content if isinstance(block, Mapping))
    del kinds["text"]
    named = (kind if count == 1 else f"{kind} x{count}" for kind, count in kinds.items())
    return f"[non-text content: {', '.join(named)}]" if kinds else ""


def _kind(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) and kind else "unknown"
