"""How one text, or one tool result, is cut to a weight for good (spec profiles 5.4).

As in ``truncate``, with weights in place of lengths: head, marker, tail and notice together weigh at
most the limit, and a cut never splits a surrogate pair. The blocks of a result share its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.pruning.truncation_rules import (
    MIDDLE_MARKER,
    Notice,
    TruncationRules,
    has_important_tail,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens.text_weight import head_within, tail_within, text_weight

_TEXT_TYPES: Final = frozenset({"text", "toolResult"})


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts are cut.

    ``keep`` is the weight kept at least, ``unit_weight`` what every unit weighs at least;
    ``spares_small``: whether small blocks stay whole while the others share what is left.
    """

    rules: TruncationRules
    notice: Notice
    keep: float
    unit_weight: float = 1
    spares_small: bool = True

    def weight(self, text: str) -> int:
        return text_weight(text, self.unit_weight)

    def kept_at_least(self, limit: float) -> float:
        room = js.maximum(0, limit - self.weight(self.notice(1)))
        return js.maximum(0, js.minimum(self.keep, room))

    def fits(self, text: str, limit: float) -> bool:
        return js.utf16_len(text) <= limit and self.weight(text) <= limit


def cut_text(text: str, limit: float, cutting: Cutting) -> str:
    """``text`` cut to weigh at most ``limit``; the same object when it fits."""
    if cutting.fits(text, limit):
        return text
    length = js.utf16_len(text)
    keep = cutting.kept_at_least(limit)
    gone = length - js.utf16_len(head_within(text, limit, cutting.unit_weight))
    budget = js.maximum(keep, limit - cutting.weight(cutting.notice(js.maximum(1, gone))))
    kept = _head_and_tail(text, length, budget, keep, cutting)
    if kept is None:
        kept = _head(text, budget, cutting)
    return _bounded(kept, length, limit, cutting)


def _head(text: str, budget: float, cutting: Cutting) -> str:
    """A head, back to the end of a line where that costs little."""
    head = head_within(text, budget, cutting.unit_weight)
    newline = js.utf16_last_index(head, "\n")
    if newline > js.utf16_len(head) * cutting.rules.head_newline_share:
        return js.utf16_slice(head, 0, newline)
    return head


def _tail(text: str, budget: float, cutting: Cutting) -> str:
    """A tail, from the start of a line where that costs little."""
    tail = tail_within(text, budget, cutting.unit_weight)
    newline = js.utf16_index(tail, "\n")
    if newline != -1 and newline < js.utf16_len(tail) * cutting.rules.tail_newline_share:
        return js.utf16_slice(tail, newline + 1)
    return tail


def _head_and_tail(
    text: str, length: int, budget: float, keep: float, cutting: Cutting
) -> str | None:
    """Head, marker and tail; none where the tail does not matter, the head would get too short or
    both together would be the whole text."""
    if not budget > 2 * keep or not has_important_tail(text):
        return None
    tail_budget = js.minimum(
        js.floor(budget * cutting.rules.tail_share), cutting.rules.tail_max_chars
    )
    head_budget = budget - tail_budget - cutting.weight(MIDDLE_MARKER)
    if not head_budget > keep:
        return None
    head, tail = _head(text, head_budget, cutting), _tail(text, tail_budget, cutting)
    if js.utf16_len(head) + js.utf16_len(tail) >= length:
        return None
    return head + MIDDLE_MARKER + tail


def _bounded(kept: str, length: int, limit: float, cutting: Cutting) -> str:
    """``kept`` with its notice, shortened from its end until both fit."""
    while True:
        notice = cutting.notice(js.maximum(1, length - js.utf16_len(kept)))
        room = limit - cutting.weight(notice)
        if room <= 0:
            return head_within(cutting.notice(length), limit, cutting.unit_weight)
        if cutting.fits(kept, room):
            return kept + notice
        kept = head_within(kept, room, cutting.unit_weight)


def result_weight(message: Any) -> int:
    """Weight of a tool result's text; 0 for any other message and for a string content."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return 0
    content = message.get("content")
    if not isinstance(content, list):
        return 0
    return sum(text_weight(text) for block in content if (text := _block_text(block)) is not None)


def _block_text(block: Any) -> str | None:
    if not isinstance(block, Mapping) or block.get("type") not in _TEXT_TYPES:
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None


def cut_message(message: Any, limit: float, cutting: Cutting) -> Any:
    """A message with its text blocks cut to their shares of ``limit``; the same object if it fits."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return message
    texts = {i: text for i, block in enumerate(content) if (text := _block_text(block)) is not None}
    weights = {i: cutting.weight(text) for i, text in texts.items()}
    if sum(weights.values()) <= limit:
        return message
    blocks = list(content)
    for i, (budget, block_cutting) in _shares(texts, weights, limit, cutting).items():
        cut = cut_text(texts[i], budget, block_cutting)
        blocks[i] = content[i] if cut is texts[i] else {**content[i], "text": cut}
    return {**message, "content": blocks}


def _shares(
    texts: Mapping[int, str], weights: Mapping[int, int], limit: float, cutting: Cutting
) -> dict[int, tuple[float, Cutting]]:
    """The budget of each block that is cut, and what it keeps at least.

    A small block stays whole where all of those fit beside the notices of the others.
    """
    keep = cutting.kept_at_least(limit)
    notices = {i: cutting.weight(cutting.notice(js.utf16_len(t))) for i, t in texts.items()}
    whole = {i for i, text in texts.items() if cutting.fits(text, keep)}
    if (
        not cutting.spares_small
        or sum((weights if i in whole else notices)[i] for i in texts) > limit
    ):
        whole = set()
    cut = [i for i in texts if i not in whole]
    room = limit - sum(weights[i] for i in whole)
    noticed, heavy = sum(notices[i] for i in cut), sum(weights[i] for i in cut)
    scale = min(1, js.divide(room, noticed))
    spread = max(0, room - noticed)
    shares = {i: weights[i] / heavy if heavy else 0 for i in cut}
    return {
        i: (
            js.floor(notices[i] * scale + spread * share),
            replace(cutting, keep=js.floor(keep * share)),
        )
        for i, share in shares.items()
    }
