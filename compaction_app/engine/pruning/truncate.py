"""How one text, or one tool result, is cut to a number of characters for good.

Hard truncation keeps the head; where the end of a text looks worth reading (an error, a closing brace,
a summary) it keeps head and tail with a marker between. The versions differ in the notice they write
and in whether the notice counts towards the limit (spec pruning 3 and 4, profiles 2.1-2.6 and 4).

All lengths are UTF-16 code units, and a cut may split a surrogate pair, as it does in the runtime.
Since 2026.9 lengths are weights (``truncate_weighted``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction_app.engine.pruning import truncate_weighted as weighted
from compaction_app.engine.pruning.change import block_text, text_chars
from compaction_app.engine.pruning.truncation_rules import (
    MIDDLE_MARKER,
    MIDDLE_MARKER_CHARS,
    Notice,
    TruncationRules,
    has_important_tail,
)
from sessions_app.tokens import javascript as js


def truncate_text(
    text: str,
    max_chars: float,
    rules: TruncationRules,
    *,
    notice: Notice | None = None,
    min_keep_chars: float | None = None,
    unit_weight: float = 1,
) -> str:
    """``text`` cut to ``max_chars``; the same object when it fits (spec pruning 3.2, profiles 2.3).

    ``unit_weight`` is what a unit weighs at least, where the version weighs.
    """
    notice = notice or rules.notice
    wanted = rules.min_keep_chars if min_keep_chars is None else min_keep_chars
    if rules.weighted:
        return weighted.cut_text(
            text, max_chars, weighted.Cutting(rules, notice, wanted, unit_weight)
        )
    length = js.utf16_len(text)
    if length <= max_chars:
        return text
    keep = rules.kept_at_least(max_chars, notice, wanted)
    gone = js.maximum(1, length - max_chars)
    budget = js.maximum(keep, max_chars - js.utf16_len(notice(gone)))
    kept = _head_and_tail(text, length, budget, keep, rules)
    if kept is None:
        kept = _head(text, budget, rules)
    return _bounded(kept, length, max_chars, notice) if rules.bounded else kept + notice(gone)


def _head(text: str, budget: float, rules: TruncationRules) -> str:
    newline = js.utf16_last_index(text, "\n", budget)
    cut = newline if newline > budget * rules.head_newline_share else budget
    return js.utf16_slice(text, 0, js.position(cut))


def _head_and_tail(
    text: str, length: int, budget: float, keep: float, rules: TruncationRules
) -> str | None:
    """Head, marker and tail; none where the tail does not matter or the head would get too short."""
    if not budget > 2 * keep:
        return None
    tail_chars = js.minimum(js.floor(budget * rules.tail_share), rules.tail_max_chars)
    head_chars = budget - tail_chars - MIDDLE_MARKER_CHARS
    if not head_chars > keep or not has_important_tail(text):
        return None
    tail_start = length - tail_chars
    newline = js.utf16_index(text, "\n", js.position(tail_start))
    if newline != -1 and newline < tail_start + tail_chars * rules.tail_newline_share:
        tail_start = newline + 1
    tail = js.utf16_slice(text, js.position(tail_start))
    return _head(text, head_chars, rules) + MIDDLE_MARKER + tail


def _bounded(kept: str, length: int, max_chars: float, notice: Notice) -> str:
    """``kept`` with its notice, shortened from its end until both fit (spec pruning 3.3)."""
    while True:
        kept_chars = js.utf16_len(kept)
        result = js.concat((kept, notice(js.maximum(1, length - kept_chars))))
        excess = js.utf16_len(result) - max_chars
        if excess <= 0:
            return result
        if not kept:
            return js.utf16_slice(result, 0, js.position(max_chars))
        kept = js.utf16_slice(kept, 0, js.position(js.maximum(0, kept_chars - excess)))


def tool_result_text_chars(message: Any, rules: TruncationRules) -> int:
    """Text length of a tool result with a list of blocks; 0 for any other message (spec pruning 4)."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return 0
    if rules.weighted:
        return weighted.result_weight(message)
    return text_chars(message) if isinstance(message.get("content"), list) else 0


def truncate_message(
    message: Any,
    max_chars: float,
    rules: TruncationRules,
    *,
    notice: Notice | None = None,
    min_keep_chars: float | None = None,
    unit_weight: float = 1,
) -> Any:
    """A tool result with its text blocks cut to their shares of ``max_chars`` (spec pruning 4).

    The same object when it fits or is no tool result with a list of blocks: a string content is never
    capped. With several blocks the total may stay above ``max_chars`` unless the version weighs.
    """
    notice = notice or rules.notice
    wanted = rules.min_keep_chars if min_keep_chars is None else min_keep_chars
    if rules.weighted:
        return weighted.cut_message(
            message, max_chars, weighted.Cutting(rules, notice, wanted, unit_weight)
        )
    content = message.get("content") if isinstance(message, Mapping) else None
    total = tool_result_text_chars(message, rules)
    if not isinstance(content, list) or total <= max_chars:
        return message
    keep = rules.kept_at_least(max_chars, notice, wanted)
    blocks = []
    for block in content:
        text = block_text(block)
        if text is not None:
            budget = _block_budget(js.utf16_len(text), total, max_chars, keep, notice, rules)
            cut = truncate_text(text, budget, rules, notice=notice, min_keep_chars=keep)
            block = block if cut is text else {**block, "text": cut}
        blocks.append(block)
    return {**message, "content": blocks}


def _block_budget(
    length: int, total: int, max_chars: float, keep: float, notice: Notice, rules: TruncationRules
) -> float:
    share = js.floor(max_chars * js.divide(length, total))
    least = keep + js.utf16_len(notice(js.maximum(1, length - share)))
    budget = js.maximum(least, share)
    return js.maximum(1, js.minimum(max_chars, budget)) if rules.bounded else budget


def cap_message(message: Any, max_chars: float, rules: TruncationRules) -> Any:
    """A tool result cut to the cap that holds before it is stored (spec pruning 4, profiles 2.6)."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return message
    return truncate_message(message, max_chars, rules, notice=rules.persist_notice)
