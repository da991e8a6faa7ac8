"""Which user messages were sent twice by accident (spec compaction 3.8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.compaction.message_text import Message, text_blocks
from sessions_app.tokens import javascript as js

MIN_CHARS = 24
WINDOW_MS = 60_000

_SPACES = re.compile(f"{js.SPACE_CLASS}+")


@dataclass(frozen=True, slots=True)
class DuplicateRules:
    """``exact``: whether a repetition has to be the same text to the letter."""

    exact: bool = False


DUPLICATES_2026_5_28 = DuplicateRules()
DUPLICATES_2026_9 = DuplicateRules(exact=True)


def duplicate_asks(
    messages: Sequence[Message], rules: DuplicateRules = DUPLICATES_2026_5_28
) -> frozenset[int]:
    """The indices of user messages that repeat one sent at most a minute before.

    Case and white space do not count; short texts, texts with an image and undated ones are never
    duplicates. The minute runs from the last repetition.
    """
    last_seen: dict[str, float] = {}
    found = set()
    for index, message in enumerate(messages):
        text, sent = _text(message, rules), message.get("timestamp")
        if text is None or not js.is_finite(sent):
            continue
        before = last_seen.get(text)
        if before is not None and 0 <= sent - before <= WINDOW_MS:
            found.add(index)
        last_seen[text] = sent
    return frozenset(found)


def _text(message: Message, rules: DuplicateRules) -> str | None:
    """The text two messages are compared by; none for a message that is no candidate."""
    content = message.get("content")
    if message.get("role") != "user" or _holds_image(content):
        return None
    text = content if isinstance(content, str) else "\n".join(text_blocks(content))
    normal = js.trim(_SPACES.sub(" ", unicodedata.normalize("NFC", text))).lower()
    compared = text if rules.exact else normal
    return compared if js.utf16_len(normal) >= MIN_CHARS else None


def _holds_image(content: Any) -> bool:
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, Mapping) and block.get("type") == "image" for block in blocks)
