"""Which text is the result of a subagent's run (spec compaction 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.engine.compaction.message_text import readable_text
from compaction_app.engine.silent_reply import OPENCLAW_2026_5_28, SilentRules, is_silent_text
from compaction_app.engine.subagent.announce import skips_announcement

YIELD_TOOL = "sessions_yield"


def subagent_output(
    messages: Sequence[Mapping[str, Any]], rules: SilentRules = OPENCLAW_2026_5_28
) -> str | None:
    """The last thing said, silence included; none while the run waits or has done nothing.

    A yield forgets what came before it.
    """
    said: str | None = None
    calls = 0
    waits = False
    for message in messages:
        if _yields(message):
            said, calls, waits = None, 0, True
        elif message.get("role") == "assistant":
            calls += len(_calls(message))
            if text := readable_text(message):
                said, waits = text, False
    if said is not None or waits or not calls:
        return said
    return f"{calls} tool call(s) made without visible output."


def is_silent_output(text: str, rules: SilentRules = OPENCLAW_2026_5_28) -> bool:
    """Whether a result says that nothing is to be announced."""
    return is_silent_text(text, rules) or skips_announcement(text)


def _yields(message: Mapping[str, Any]) -> bool:
    if message.get("role") == "toolResult":
        return message.get("toolName") == YIELD_TOOL
    return any(call.get("name") == YIELD_TOOL for call in _calls(message))


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return []
    return [b for b in content if isinstance(b, Mapping) and b.get("type") == "toolCall"]
