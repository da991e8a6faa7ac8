"""What a pruning rule did to one message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.tokens import javascript as js


@dataclass(frozen=True, slots=True)
class Change:
    """One message changed by one rule.

    ``position`` is the index in the list the rule was given, or the id of a session entry. Characters
    are UTF-16 units of the message's text, unweighted; ``after_chars`` includes what the rule wrote
    (notice, marker, placeholder), so it may exceed ``before_chars``. ``reason`` is a stable code.
    """

    position: int | str
    rule: str
    before_chars: int
    after_chars: int
    reason: str

    @property
    def removed_chars(self) -> int:
        return self.before_chars - self.after_chars


def text_chars(message: Any) -> int:
    """UTF-16 units of a message's text: its string content, or its text blocks together."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return js.utf16_len(content)
    if not isinstance(content, list):
        return 0
    return sum(js.utf16_len(text) for block in content if (text := block_text(block)) is not None)


def block_text(block: Any) -> str | None:
    """The text of a text block, none for any other block."""
    if not isinstance(block, Mapping) or block.get("type") != "text":
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None


def change(position: int | str, rule: str, before: Any, after: Any, reason: str) -> Change:
    """The change from one form of a message to another."""
    return Change(position, rule, text_chars(before), text_chars(after), reason)
