"""How an old tool result is shortened in view: head, tail and a note (spec pruning 12.5).

Lengths are plain UTF-16 units. The note is not budgeted: a result just over the limit may grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from compaction_app.engine.pruning.cache_ttl_settings import SoftTrim
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import image_count
from sessions_app.tokens.pruner_chars import PrunerCharRules, view_length, view_parts

JOINT: Final = "\n...\n"


def soft_trimmed(
    message: Mapping[str, Any], settings: SoftTrim, rules: PrunerCharRules
) -> dict[str, Any] | None:
    """The shortened form of a tool result; none when there is nothing to shorten.

    Images become markers, also where the text is short. Blocks that are neither text nor image vanish.

    Raises:
        TypeError: as ``pruner_message_chars``.
    """
    parts = view_parts(message, rules)
    length = view_length(parts)
    head, tail = max(0, settings.head_chars), max(0, settings.tail_chars)
    if length <= settings.max_chars or head + tail >= length:
        return with_one_text(message, "\n".join(parts)) if image_count(message) else None
    first, last = head_of(parts, head), tail_of(parts, tail)
    if rules.keeps_pairs:
        first, last = without_half_pair(first, last)
    kept = f"{first}{JOINT}{last}"
    return with_one_text(message, kept + trim_note(head, tail, length))


def trim_note(head: int, tail: int, length: int) -> str:
    """What a shortened result ends with."""
    return (
        f"\n\n[Tool result trimmed: kept first {head} chars and last {tail} chars"
        f" of {length} chars.]"
    )


def head_of(parts: Sequence[str], chars: float) -> str:
    """The first ``chars`` of the parts joined by newlines; a joint counts, too."""
    return js.utf16_slice("\n".join(parts), 0, js.position(chars)) if chars > 0 else ""


def tail_of(parts: Sequence[str], chars: float) -> str:
    """The last ``chars`` of the parts joined by newlines; a joint counts, too."""
    return js.utf16_slice("\n".join(parts), -js.position(chars)) if chars > 0 else ""


def without_half_pair(head: str, tail: str) -> tuple[str, str]:
    """Head and tail without the half of a character that the cut left at their inner ends."""
    if "\ud800" <= head[-1:] <= "\udbff":
        head = head[:-1]
    if "\udc00" <= tail[:1] <= "\udfff":
        tail = tail[1:]
    return head, tail


def with_one_text(message: Mapping[str, Any], text: str) -> dict[str, Any]:
    """``message`` with one text block as its whole content; its other fields stay."""
    return {**message, "content": [{"type": "text", "text": text}]}
