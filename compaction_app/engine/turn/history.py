"""What an attempt takes over from the stored history before it adds the prompt.

The runtime's own replies and silent answers are left out, results stand behind their calls, and
messages of one side in a row become one (read off the requests of recorded runs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from compaction_app.engine.pruning.pairing import repair_pairing
from compaction_app.engine.pruning.persist import is_transcript_only
from compaction_app.engine.silent_reply import SilentRules, is_silent_text

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

Message = Mapping[str, Any]


def attempt_history(messages: Sequence[Message], rules: RuleSet, now_ms: float) -> list[Message]:
    """The history of an attempt; ``now_ms`` is the time of error results made for calls without one."""
    kept = [m for m in messages if not (is_transcript_only(m) or is_silent(m, rules.silent_reply))]
    paired = repair_pairing(kept, rules.pruning.pairing, now_ms).messages
    joined: list[Message] = []
    for message in paired:
        if joined and _joins(joined[-1], message):
            before = joined[-1]
            content = [*_blocks(before.get("content")), *_blocks(message.get("content"))]
            base = message if message.get("role") == "assistant" else before
            joined[-1] = {**base, "content": content}
        else:
            joined.append(message)
    return joined


def is_silent(message: Message, rules: SilentRules) -> bool:
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list) or not content:
        return False
    texts = [b.get("text") for b in content if isinstance(b, Mapping) and b.get("type") == "text"]
    said = "".join(text for text in texts if isinstance(text, str))
    return len(texts) == len(content) and is_silent_text(said, rules)


def _joins(before: Message, message: Message) -> bool:
    role = message.get("role")
    return role in ("user", "assistant") and before.get("role") == role


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []
