"""Which images of the past are taken out of a context: the model has seen them.

2026.3 empties everything before the last answer; later versions keep the last three completed turns;
2026.5.28 also takes out references to media (spec pruning 13, profiles 3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.pruning.change import Change, change
from sessions_app.tokens import javascript as js

HISTORY_IMAGES: Final = "history_images"
KEPT_TURNS: Final = 3
IMAGE_MARKER: Final = "[image data removed - already processed by model]"
MEDIA_MARKER: Final = "[media reference removed - already processed by model]"

_S = js.SPACE_CLASS
_MEDIA = (
    re.compile(rf"\[media attached(?:{_S}+[0-9]+/[0-9]+)?:{_S}*[^\]]+\]", re.IGNORECASE | re.ASCII),
    re.compile(rf"\[Image:{_S}*source:{_S}*[^\]]+\]", re.IGNORECASE | re.ASCII),
    re.compile(r"\bmedia://inbound/[^\]/\\" + _S[1:-1] + r"]+", re.ASCII),
)


@dataclass(frozen=True, slots=True)
class HistoryImageRules:
    """``keeps_turns``: completed turns that keep their images; none where only what follows the last
    answer does. ``media_references``: whether these go, too. ``sticks``: whether the message objects
    themselves are changed, for the rest of the session in memory. ``spares_last``: the last turn never
    counts as completed, answered or not.
    """

    keeps_turns: int | None
    media_references: bool
    sticks: bool
    spares_last: bool = False


HISTORY_IMAGES_2026_3: Final = HistoryImageRules(None, media_references=False, sticks=True)
HISTORY_IMAGES_2026_4_20: Final = HistoryImageRules(KEPT_TURNS, media_references=False, sticks=True)
HISTORY_IMAGES_2026_5_28: Final = HistoryImageRules(KEPT_TURNS, media_references=True, sticks=False)
HISTORY_IMAGES_2026_9: Final = replace(HISTORY_IMAGES_2026_5_28, spares_last=True)


@dataclass(frozen=True, slots=True)
class WithoutImages:
    """The list (the same one when nothing was replaced), the new messages, and what was changed."""

    messages: Sequence[Any]
    new_forms: Mapping[int, Any]
    changes: tuple[Change, ...]


def prune_history_images(messages: Sequence[Any], rules: HistoryImageRules) -> WithoutImages:
    """Old images as markers; applying it again changes nothing."""
    new: dict[int, Any] = {}
    for position in range(_history_end(messages, rules)):
        clean = clean_message(messages[position], rules)
        if clean is not messages[position]:
            new[position] = clean
    if not new:
        return WithoutImages(messages, {}, ())
    return WithoutImages(
        [new.get(i, message) for i, message in enumerate(messages)],
        new,
        tuple(change(i, HISTORY_IMAGES, messages[i], m, "processed_turn") for i, m in new.items()),
    )


def clean_message(message: Any, rules: HistoryImageRules) -> Any:
    """A prompt or a tool result without images; the same object where it has none, or is another."""
    if _role(message) not in ("user", "toolResult"):
        return message
    content = message.get("content")
    clean = _clean(content, rules)
    return message if clean is content else {**message, "content": clean}


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


def _history_end(messages: Sequence[Any], rules: HistoryImageRules) -> int:
    """How many messages from the start may lose their images."""
    if rules.keeps_turns is not None:
        starts = completed_turn_starts(messages, spares_last=rules.spares_last)
        return starts[-rules.keeps_turns] if len(starts) > rules.keeps_turns else 0
    answers = (i for i in range(len(messages) - 1, -1, -1) if _role(messages[i]) == "assistant")
    return next(answers, 0)


def completed_turn_starts(messages: Sequence[Any], *, spares_last: bool = False) -> list[int]:
    """Where the answered turns begin; a turn begins with a user message, or an unasked tool result."""
    starts: list[int] = []
    open_turn: int | None = None
    answered = False
    for position, message in enumerate(messages):
        role = _role(message)
        if role == "user" or (role == "toolResult" and open_turn is None):
            if open_turn is not None and answered:
                starts.append(open_turn)
            open_turn, answered = position, False
        elif role == "assistant" and open_turn is not None:
            answered = True
    if open_turn is not None and answered and not spares_last:
        starts.append(open_turn)
    return starts


def _clean(content: Any, rules: HistoryImageRules) -> Any:
    if isinstance(content, str):
        return _without_media(content, rules)
    if not isinstance(content, list):
        return content
    blocks = [_clean_block(block, rules) for block in content]
    same = all(one is other for one, other in zip(blocks, content, strict=True))
    return content if same else blocks


def _clean_block(block: Any, rules: HistoryImageRules) -> Any:
    if not isinstance(block, Mapping):
        return block
    if block.get("type") == "image":
        return {"type": "text", "text": IMAGE_MARKER}
    text = block.get("text") if block.get("type") == "text" else None
    if not isinstance(text, str):
        return block
    clean = _without_media(text, rules)
    return block if clean is text else {**block, "text": clean}


def _without_media(text: str, rules: HistoryImageRules) -> str:
    if not rules.media_references or ("[" not in text and "media://inbound/" not in text):
        return text
    clean = text
    for pattern in _MEDIA:
        clean = pattern.sub(MEDIA_MARKER, clean)
    return text if clean == text else clean
