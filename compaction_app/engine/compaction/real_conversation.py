"""Whether there is anything worth a summary: heartbeats and silent replies alone are not (spec compaction 3.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.silent_reply import HEARTBEAT_TOKEN, is_silent_text
from sessions_app.tokens import javascript as js

ANCHOR_DISTANCE = 20
"""How many messages before a tool result are searched for what caused it."""

_ANCHOR_ROLES = frozenset({"user", "custom", "bashExecution", "branchSummary"})
_EMPTY_TYPES = frozenset({"text", "toolCall", "toolUse", "functionCall", "thinking", "reasoning"})
_TAG = re.compile("<[^>]*>")
_NBSP = re.compile("&nbsp;", re.IGNORECASE)
_WRAPPERS = "*`~_"
_TRAILING_TOKEN = re.compile(rf"{HEARTBEAT_TOKEN}[^A-Za-z0-9_]{{0,4}}\Z")


@dataclass(frozen=True, slots=True)
class ConversationRules:
    """``counts_summaries``: whether the summary of an earlier compaction counts as conversation."""

    counts_summaries: bool = False


CONVERSATION_2026_5_28 = ConversationRules()
CONVERSATION_2026_9 = ConversationRules(counts_summaries=True)


def has_real_conversation(
    messages: Sequence[Message], rules: ConversationRules = CONVERSATION_2026_5_28
) -> bool:
    return any(is_real(messages, index, rules) for index in range(len(messages)))


def is_real(
    messages: Sequence[Message], index: int, rules: ConversationRules = CONVERSATION_2026_5_28
) -> bool:
    """Whether one message of a list is real conversation.

    A tool result is when something real that is no answer of the assistant stands shortly before it.
    """
    if messages[index].get("role") == "toolResult":
        before = messages[max(0, index - ANCHOR_DISTANCE) : index]
        return any(m.get("role") in _ANCHOR_ROLES and _has_content(m, rules) for m in before)
    return _has_content(messages[index], rules)


def is_meaningful(text: str) -> bool:
    """Whether something is said beyond silence tokens and heartbeat acknowledgements."""
    if js.is_blank(text) or is_silent_text(text):
        return False
    rest = _without_heartbeat(js.trim(text))
    return rest is None or rest != ""


def _has_content(message: Message, rules: ConversationRules) -> bool:
    match message.get("role"):
        case "user" | "assistant":
            return _is_meaningful_content(message.get("content"))
        case "custom":
            shown = message.get("display") is not False
            return shown and _is_meaningful_content(message.get("content"))
        case "bashExecution":
            if js.is_truthy(message.get("excludeFromContext")):
                return False
            return is_meaningful(f"{_text(message, 'command')}\n{_text(message, 'output')}")
        case "branchSummary":
            return is_meaningful(_text(message, "summary"))
        case "compactionSummary" if rules.counts_summaries:
            return is_meaningful(_text(message, "summary"))
    return False


def _text(message: Message, key: str) -> str:
    value = message.get(key)
    return value if isinstance(value, str) else ""


def _is_meaningful_content(content: Any) -> bool:
    if isinstance(content, str):
        return is_meaningful(content)
    blocks = content if isinstance(content, list) else ()
    return any(_is_meaningful_block(block) for block in blocks if isinstance(block, Mapping))


def _is_meaningful_block(block: Mapping[str, Any]) -> bool:
    if block.get("type") == "text":
        return is_meaningful(_text(block, "text"))
    return block.get("type") not in _EMPTY_TYPES


def _without_heartbeat(text: str) -> str | None:
    """The text without heartbeat tokens at its edges; none when it has none there.

    Where nothing remains, light markup around the token is taken for part of it.
    """
    if HEARTBEAT_TOKEN not in text:
        return None
    plain = _NBSP.sub(" ", _TAG.sub(" ", text)).lstrip(_WRAPPERS).rstrip(_WRAPPERS)
    return _strip_edges(text) or _strip_edges(js.trim(plain))


def _strip_edges(text: str) -> str | None:
    stripped = None
    while True:
        rest = js.trim(text if stripped is None else stripped)
        if rest.startswith(HEARTBEAT_TOKEN):
            stripped = js.trim_start(rest.removeprefix(HEARTBEAT_TOKEN))
        elif _TRAILING_TOKEN.search(rest):
            before, _, after = rest.rpartition(HEARTBEAT_TOKEN)
            before = js.trim_end(before)
            stripped = js.trim_end(before + js.trim_start(after)) if before else ""
        else:
            return stripped
