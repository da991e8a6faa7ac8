"""How one tool result is cut for one model call, without touching what is stored.

Only the head is kept, and a result that is cut loses its images, other blocks and details. The
versions differ in the notice and in what the limit is compared with: the estimate counts a result's
characters twice, and only later versions cut the text to half the limit (spec pruning 10.2 and 10.3,
profiles 2.10 and 2.11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.pruning.change import block_text
from compaction_app.engine.pruning.soft_cut_weighted import cut_content
from compaction_app.engine.pruning.truncation_rules import (
    TRUNCATION_2026_9,
    Notice,
    TruncationRules,
    narrower_args_notice,
    short_notice,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens import loop_chars
from sessions_app.tokens.loop_chars import LoopCharRules, loop_message_chars
from sessions_app.tokens.pressure import is_tool_result

FIXED_NOTICE: Final = "[truncated: output exceeded context limit]"
_NOTICE_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class SoftCutRules:
    """``counted_notice`` names what is gone; none where the version writes one fixed notice and cuts
    the text to the whole limit. ``truncation``: the hard cut's rules where it does the work, head, tail
    and images included. ``newline_share``: a cut moves back to a line's end beyond it."""

    chars: LoopCharRules
    counted_notice: Notice | None
    truncation: TruncationRules | None = None
    newline_share: float = 0.7


SOFT_CUT_2026_3: Final = SoftCutRules(chars=loop_chars.OPENCLAW_2026_3, counted_notice=None)
SOFT_CUT_2026_4_20: Final = SoftCutRules(
    chars=loop_chars.OPENCLAW_2026_4_20, counted_notice=short_notice
)
SOFT_CUT_2026_5_28: Final = SoftCutRules(
    chars=loop_chars.OPENCLAW_2026_5_28, counted_notice=narrower_args_notice
)
SOFT_CUT_2026_9: Final = SoftCutRules(
    chars=loop_chars.OPENCLAW_2026_9,
    counted_notice=narrower_args_notice,
    truncation=TRUNCATION_2026_9,
)


def cut_text(text: str, max_chars: float, rules: SoftCutRules) -> str:
    """The head of ``text`` and a notice; the same object when it fits.

    A small limit gives the notice alone, which may be longer than the limit.
    """
    length = js.utf16_len(text)
    if length <= max_chars:
        return text
    notice = rules.counted_notice
    if notice is None:
        body = js.maximum(0, max_chars - js.utf16_len(FIXED_NOTICE) - 1)
        return f"{_head(text, body, rules)}\n{FIXED_NOTICE}" if body > 0 else FIXED_NOTICE
    if max_chars <= 0:
        return notice(length)
    body = max_chars
    for _ in range(_NOTICE_ROUNDS):
        body = js.maximum(0, max_chars - js.utf16_len(notice(js.maximum(1, length - body))))
    head = _head(text, body, rules)
    return head + notice(length - js.utf16_len(head))


def _head(text: str, body: float, rules: SoftCutRules) -> str:
    newline = js.utf16_last_index(text, "\n", body)
    cut = newline if newline > body * rules.newline_share else body
    return js.utf16_slice(text, 0, js.position(cut))


def cut_tool_result(message: Any, max_chars: float, rules: SoftCutRules) -> Any:
    """A tool result whose estimate exceeds ``max_chars``, cut; any other message as it is."""
    if not isinstance(message, Mapping) or not is_tool_result(message):
        return message
    estimate = loop_message_chars(message, rules.chars)
    if estimate <= max_chars:
        return message
    if rules.truncation is not None:
        return cut_content(message, max_chars, rules.truncation, rules.chars)
    text = _text(message.get("content"))
    notice = rules.counted_notice
    if notice is None:
        return with_text(message, cut_text(text, max_chars, rules) if text else FIXED_NOTICE)
    if not text:
        return with_text(message, notice(js.floor(max(estimate - max_chars, 1) / 2)))
    budget = js.maximum(0, js.floor(max_chars / 2))
    return with_text(
        message, cut_text(text, budget, rules) if budget > 0 else notice(js.utf16_len(text))
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    return js.concat("\n".join(t for block in blocks if (t := block_text(block)) is not None))


def with_text(message: Mapping[str, Any], text: str) -> dict[str, Any]:
    """``message`` with ``text`` as its whole content and without details."""
    new = {key: value for key, value in message.items() if key != "details"}
    plain = "content" not in message or isinstance(message["content"], str)
    new["content"] = text if plain else [{"type": "text", "text": text}]
    return new
