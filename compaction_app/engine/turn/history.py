"""What an attempt takes over from the stored history before it adds the prompt.

The runtime's own replies and silent answers are left out, results stand behind their calls, and
messages of one side in a row become one (read off the requests of recorded runs).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.pruning.pairing import repair_pairing
from compaction_app.engine.pruning.persist import is_transcript_only
from compaction_app.engine.silent_reply import SilentRules, is_silent_text
from sessions_app.transcripts.timestamps import epoch_ms

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

Message = Mapping[str, Any]
NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9]")


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


def stamped(messages: Sequence[Message]) -> list[Message]:
    """The prompts with the minute they came at in front, as a channel words it."""
    return [_stamped(m) if m.get("role") == "user" else m for m in messages]


def _stamped(message: Message) -> Message:
    moment, content = epoch_ms(message.get("timestamp")), message.get("content")
    if moment is None:
        return message
    stamp = f"[{datetime.fromtimestamp(moment / 1000, UTC):%a %Y-%m-%d %H:%M} UTC] "
    if isinstance(content, str):
        return {**message, "content": stamp + content}
    blocks = list(content) if isinstance(content, list) else []
    for place, block in enumerate(blocks):
        if isinstance(block, Mapping) and block.get("type") == "text":
            blocks[place] = {**block, "text": f"{stamp}{block.get('text')}"}
            return {**message, "content": blocks}
    return message


def with_plain_call_ids(messages: Sequence[Message]) -> list[Message]:
    """Calls and results under ids of letters and digits alone, as some APIs want them."""
    return [_with_plain_id(message) for message in messages]


def _with_plain_id(message: Message) -> Message:
    content, call_id = message.get("content"), message.get("toolCallId")
    if isinstance(call_id, str):
        return {**message, "toolCallId": _plain(call_id)}
    if message.get("role") != "assistant" or not isinstance(content, list):
        return message
    calls = [isinstance(b, Mapping) and b.get("type") == "toolCall" for b in content]
    if not any(calls):
        return message
    pairs = zip(content, calls, strict=True)
    return {
        **message,
        "content": [{**b, "id": _plain(str(b.get("id")))} if call else b for b, call in pairs],
    }


def _plain(call_id: str) -> str:
    return NOT_PLAIN.sub("", call_id)


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
