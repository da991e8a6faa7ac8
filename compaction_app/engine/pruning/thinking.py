"""An assistant's old reasoning left out of what is sent (spec pruning 12.7, profiles 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.pruning.change import Change, change

DROP_THINKING: Final = "drop_thinking"


@dataclass(frozen=True, slots=True)
class ThinkingRules:
    """Which blocks go, whether the last answer keeps its own, and what an emptied answer says."""

    types: frozenset[str]
    spares_last: bool
    placeholder: str


THINKING_2026_3: Final = ThinkingRules(frozenset({"thinking"}), spares_last=False, placeholder="")
THINKING_2026_4_20: Final = ThinkingRules(
    frozenset({"thinking", "redacted_thinking"}), spares_last=True, placeholder=""
)
THINKING_2026_5_28: Final = ThinkingRules(
    frozenset({"thinking", "redacted_thinking"}),
    spares_last=True,
    placeholder="[assistant reasoning omitted]",
)


@dataclass(frozen=True, slots=True)
class WithoutThinking:
    """The list (the same one when nothing had to go) and what was changed."""

    messages: Sequence[Any]
    changes: tuple[Change, ...]


def drop_thinking(messages: Sequence[Any], rules: ThinkingRules) -> WithoutThinking:
    answers = [i for i, message in enumerate(messages) if _is_answer(message)]
    new: dict[int, Any] = {}
    for position in answers[:-1] if rules.spares_last else answers:
        content = messages[position]["content"]
        kept = [block for block in content if not _is_thinking(block, rules)]
        if len(kept) < len(content):
            kept = kept or [{"type": "text", "text": rules.placeholder}]
            new[position] = {**messages[position], "content": kept}
    if not new:
        return WithoutThinking(messages, ())
    return WithoutThinking(
        [new.get(i, message) for i, message in enumerate(messages)],
        tuple(change(i, DROP_THINKING, messages[i], m, "old_reasoning") for i, m in new.items()),
    )


def _is_answer(message: Any) -> bool:
    return (
        isinstance(message, Mapping)
        and message.get("role") == "assistant"
        and isinstance(message.get("content"), list)
    )


def _is_thinking(block: Any, rules: ThinkingRules) -> bool:
    return isinstance(block, Mapping) and block.get("type") in rules.types
