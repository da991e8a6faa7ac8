"""Old tool results given up so that a context fits: the soft guard of 2026.3.

Oldest first, results are replaced by a placeholder until enough characters are gained. It never fails
and may fall short (spec profiles 2.12 and 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final

from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.soft_cut import SoftCutRules, with_text
from sessions_app.tokens.loop_chars import loop_message_chars
from sessions_app.tokens.pressure import is_tool_result

COMPACT: Final = "compact_old_tool_results"
PLACEHOLDER: Final = "[compacted: tool output removed to free context]"
PLACEHOLDER_CHARS: Final = 48


def compact_oldest(
    messages: Sequence[Any], sizes: Sequence[int], chars_needed: float, rules: SoftCutRules
) -> tuple[int, dict[int, Any], tuple[Change, ...]]:
    """Characters gained, the new messages by position, and the changes.

    ``sizes`` are the messages' estimates. A short result that only grows is replaced all the same.
    """
    gained = 0
    new: dict[int, Any] = {}
    changes: list[Change] = []
    for position, message in enumerate(messages):
        if gained >= chars_needed:
            break
        if not isinstance(message, Mapping) or not is_tool_result(message):
            continue
        before = sizes[position]
        if before <= PLACEHOLDER_CHARS:
            continue
        new[position] = with_text(message, PLACEHOLDER)
        changes.append(change(position, COMPACT, message, new[position], "context_over_limit"))
        gained += max(0, before - loop_message_chars(new[position], rules.chars))
    return gained, new, tuple(changes)


def write_back(messages: Sequence[MutableMapping[str, Any]], new: Mapping[int, Any]) -> None:
    """Give the message objects their new form in place, as the runtime does: it sticks."""
    for position, form in new.items():
        message = messages[position]
        for key in [key for key in message if key not in form]:
            del message[key]
        message.update(form)
