"""What of a message is readable text, for what is judged and shown of a conversation (spec compaction 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.tokens import javascript as js

Message = Mapping[str, Any]


def readable_text(message: Message) -> str:
    """The trimmed text of a message: its string, or the ``text`` of any block, one per line."""
    content = message.get("content")
    if isinstance(content, str):
        return js.trim(content)
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, Mapping))
    return "\n".join(js.trim(t) for t in texts if isinstance(t, str) and not js.is_blank(t))


def text_blocks(content: Any) -> list[str]:
    """The texts of the blocks of type ``text``; a string is no block."""
    if not isinstance(content, list):
        return []
    return [
        block["text"]
        for block in content
        if isinstance(block, Mapping)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]


def latest_user_ask(messages: Sequence[Message]) -> str | None:
    """The text of the last user message that has any."""
    asks = (readable_text(m) for m in reversed(messages) if m.get("role") == "user")
    return next((ask for ask in asks if ask), None)
