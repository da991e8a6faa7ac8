"""What a version of hard truncation knows: its notices, its numbers, and which end of a text matters.

The rules that use them stand in ``truncate`` (spec pruning 2 and 3, profiles 2.1, 4 and 5.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

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
    ``weighted``: all lengths are weights, and no surrogate pair is split (spec profiles 5.4).
    """

    notice: Notice
    persist_notice: Notice
    bounded: bool
    weighted: bool = False
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
TRUNCATION_2026_9: Final = replace(TRUNCATION_2026_5_28, weighted=True)


def has_important_tail(text: str) -> bool:
    """Whether the last 2,000 characters look like the part one wants to see (spec pruning 3.1)."""
    tail = js.trim(js.utf16_slice(text, -IMPORTANT_TAIL_CHARS)).lower()
    return tail.endswith("}") or _IMPORTANT.search(tail) is not None
