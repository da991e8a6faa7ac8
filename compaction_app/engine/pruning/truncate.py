"""How one text, or one tool result, is cut to a number of characters for good.

Hard truncation keeps the head; where the end of a text looks worth reading (an error, a closing brace,
a summary) it keeps head and tail with a marker between. The versions differ in the notice they write
and in whether the notice counts towards the limit (spec pruning 3 and 4, profiles 2.1-2.6 and 4).

All lengths are UTF-16 code units. A cut may split a surrogate pair, as it does in the runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.pruning.change import block_text, text_chars
from sessions_app.tokens import javascript as js

Notice = Callable[[float], str]
"""The text that ends a cut result, given how many characters are gone."""

MIDDLE_MARKER: Final = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n"
MIDDLE_MARKER_CHARS: Final = 63
MIN_KEEP_CHARS: Final = 2000
IMPORTANT_TAIL_CHARS: Final = 2000

_IMPORTANT_WORDS = (
    "error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code"
    "|total|summary|result|complete|finished|done"
)
_IMPORTANT = re.compile(rf"\b(?:{_IMPORTANT_WORDS})\b", re.ASCII)


def _count(count: float) -> str:
    return js.number_text(js.maximum(1, js.floor(count)))


def narrower_args_notice(count: float) -> str:
    """2026.5.28 (spec pruning 2)."""
    return f"[... {_count(count)} more characters truncated; rerun with narrower args if needed]"


def recovery_notice(count: float) -> str:
    """2026.5.28, where many results must share a small budget (spec pruning 2)."""
    return f"[... {_count(count)} chars truncated; narrow args]"


def short_notice(count: float) -> str:
    """2026.4.20 (spec profiles 4)."""
    return f"[... {_count(count)} more characters truncated]"


def constant_notice(text: str) -> Notice:
    """A notice that does not name the count."""
    return lambda _count: text


TRUNCATION_SUFFIX: Final = (
    "\n\n⚠️ [Content truncated — original was too large for the model's context window. "
    "The content above is a partial view. If you need more, request specific sections or use "
    "offset/limit parameters to read smaller chunks.]"
)
GUARD_SUFFIX: Final = (
    "\n\n⚠️ [Content truncated during persistence — original exceeded size limit. "
    "Use offset/limit parameters or request specific sections for large content.]"
)


@dataclass(frozen=True, slots=True)
class TruncationRules:
    """Constants of hard truncation.

    ``bounded``: the notice counts towards the limit, ``min_keep_chars`` yields to it and the result
    never exceeds it; unbounded, ``min_keep_chars`` is always kept and the notice comes on top.
    """

    notice: Notice
    persist_notice: Notice
    bounded: bool
    min_keep_chars: int = MIN_KEEP_CHARS
    tail_share: float = 0.3
    tail_max_chars: int = 4000
    head_newline_share: float = 0.8
    tail_newline_share: float = 0.2

    def kept_at_least(self, max_chars: float, notice: Notice, min_keep_chars: float) -> float:
        """How many characters a cut text keeps whatever its limit (spec pruning 3.2 step 1)."""
        if not self.bounded:
            return min_keep_chars
        room = js.maximum(0, max_chars - js.utf16_len(notice(1)))
        return js.maximum(0, js.minimum(min_keep_chars, room))


TRUNCATION_2026_3: Final = TruncationRules(
    notice=constant_notice(TRUNCATION_SUFFIX),
    persist_notice=constant_notice(GUARD_SUFFIX),
    bounded=False,
)
TRUNCATION_2026_4_20: Final = TruncationRules(
    notice=short_notice, persist_notice=short_notice, bounded=True
)
TRUNCATION_2026_5_28: Final = TruncationRules(
    notice=narrower_args_notice, persist_notice=narrower_args_notice, bounded=True
)


def has_important_tail(text: str) -> bool:
    """Whether the last 2,000 characters look like the part one wants to see (spec pruning 3.1)."""
    tail = js.trim(js.utf16_slice(text, -IMPORTANT_TAIL_CHARS)).lower()
    return tail.endswith("}") or _IMPORTANT.search(tail) is not None


def truncate_text(
    text: str,
    max_chars: float,
    rules: TruncationRules,
    *,
    notice: Notice | None = None,
    min_keep_chars: float | None = None,
) -> str:
    """``text`` cut to ``max_chars``; the same object when it fits (spec pruning 3.2, profiles 2.3)."""
    length = js.utf16_len(text)
    if length <= max_chars:
        return text
    notice = notice or rules.notice
    wanted = rules.min_keep_chars if min_keep_chars is None else min_keep_chars
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


def tool_result_text_chars(message: Any) -> int:
    """Text length of a tool result with a list of blocks; 0 for any other message (spec pruning 4)."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return 0
    return text_chars(message) if isinstance(message.get("content"), list) else 0


def truncate_message(
    message: Any,
    max_chars: float,
    rules: TruncationRules,
    *,
    notice: Notice | None = None,
    min_keep_chars: float | None = None,
) -> Any:
    """A tool result with its text blocks cut to their shares of ``max_chars`` (spec pruning 4).

    The same object when it fits or is no tool result with a list of blocks: a string content is never
    capped. With several blocks the total may stay above ``max_chars``.
    """
    content = message.get("content") if isinstance(message, Mapping) else None
    total = tool_result_text_chars(message)
    if not isinstance(content, list) or total <= max_chars:
        return message
    notice = notice or rules.notice
    wanted = rules.min_keep_chars if min_keep_chars is None else min_keep_chars
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
