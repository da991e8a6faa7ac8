"""How many tokens is a message, by length alone: UTF-16 units divided by four.

The estimate behind cut points, chunk sizes, the flush's prompt estimate and the tokens left after a
compaction. No weight for CJK, no overhead per message, an image has a fixed size (spec budgets 4.1,
4.2). The pre-prompt check weighs otherwise: see ``pressure``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js

CHARS_PER_TOKEN: Final = 4
IMAGE_CHARS: Final = 4800
UNSERIALISABLE: Final = "[unserializable]"
RUNTIME_CONTEXT_TYPE: Final = "openclaw.runtime-context"


class UnmeasurableMessage(TypeError):
    """A message on which the version's own runtime fails."""


@dataclass(frozen=True, slots=True)
class MessageTokenRules:
    """What differs by version (spec profiles 1.5).

    ``missing_arguments`` stands for the arguments of a tool call that has none; ``None`` where the
    runtime fails on it. ``drops_runtime_context``: runtime-context messages are left out of sums.
    """

    missing_arguments: str | None
    drops_runtime_context: bool


OPENCLAW_2026_3: Final = MessageTokenRules(missing_arguments=None, drops_runtime_context=False)
OPENCLAW_2026_4_20: Final = OPENCLAW_2026_3
OPENCLAW_2026_5_28: Final = MessageTokenRules(
    missing_arguments="undefined", drops_runtime_context=True
)


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """The tokens of a message list: the last billed usage plus an estimate of what came after it."""

    tokens: int | float
    usage_tokens: int | float
    trailing_tokens: int
    last_usage_index: int | None


def message_tokens(
    message: Mapping[str, Any], rules: MessageTokenRules = OPENCLAW_2026_5_28
) -> int:
    """Estimated tokens of one message; 0 for roles that never reach a model.

    Raises:
        UnmeasurableMessage: where the version's runtime fails too: a tool call without arguments.
    """
    return tokens_of_chars(message_chars(message, rules))


def tokens_of_chars(chars: int) -> int:
    """``ceil(chars / 4)`` for a count of UTF-16 units."""
    return -(-chars // CHARS_PER_TOKEN)


def messages_tokens(
    messages: Iterable[Mapping[str, Any]], rules: MessageTokenRules = OPENCLAW_2026_5_28
) -> int:
    """The sum over a list, each message rounded up by itself; the details of results never count."""
    return sum(
        message_tokens(message, rules)
        for message in messages
        if not (rules.drops_runtime_context and is_runtime_context(message))
    )


def is_runtime_context(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "custom" and message.get("customType") == RUNTIME_CONTEXT_TYPE


def message_chars(message: Mapping[str, Any], rules: MessageTokenRules = OPENCLAW_2026_5_28) -> int:
    """UTF-16 units of what the estimate looks at (spec budgets 4.1); a malformed part counts 0."""
    match message.get("role"):
        case "user":
            return _content_chars(message.get("content"), image_chars=0)
        case "custom" | "toolResult":
            return _content_chars(message.get("content"), image_chars=IMAGE_CHARS)
        case "assistant":
            return sum(_answer_chars(block, rules) for block in _blocks(message.get("content")))
        case "bashExecution":
            return _length(message.get("command")) + _length(message.get("output"))
        case "branchSummary" | "compactionSummary":
            return _length(message.get("summary"))
    return 0


def image_count(message: Mapping[str, Any]) -> int:
    """How many blocks of the message's content are images."""
    return sum(block.get("type") == "image" for block in _blocks(message.get("content")))


def usage_tokens(usage: Mapping[str, Any]) -> int | float:
    """What a usage record bills: its total if there is one, else the sum of its parts."""
    total = usage.get("totalTokens")
    if js.is_number(total) and js.is_truthy(total):
        return total
    parts = (usage.get(part) for part in ("input", "output", "cacheRead", "cacheWrite"))
    return sum(part for part in parts if js.is_number(part))


def last_usage_index(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """The last assistant message whose usage can be trusted: neither aborted nor an error."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if (
            message.get("role") == "assistant"
            and message.get("stopReason") not in ("aborted", "error")
            and isinstance(message.get("usage"), Mapping)
        ):
            return index
    return None


def context_tokens(
    messages: Sequence[Mapping[str, Any]], rules: MessageTokenRules = OPENCLAW_2026_5_28
) -> ContextTokens:
    """The tokens of a context: the last usage plus the estimate of what follows (spec budgets 4.2).

    An all-zero usage still counts as usage.
    """
    index = last_usage_index(messages)
    if index is None:
        everything = sum(message_tokens(message, rules) for message in messages)
        return ContextTokens(everything, 0, everything, None)
    billed = usage_tokens(messages[index]["usage"])
    trailing = sum(message_tokens(message, rules) for message in messages[index + 1 :])
    return ContextTokens(billed + trailing, billed, trailing, index)


def _blocks(content: object) -> list[Mapping[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping)]


def _content_chars(content: object, image_chars: int) -> int:
    if isinstance(content, str):
        return js.utf16_len(content)
    chars = 0
    for block in _blocks(content):
        kind = block.get("type")
        if kind == "text":
            chars += _length(block.get("text"))
        elif kind == "image":
            chars += image_chars
    return chars


def _answer_chars(block: Mapping[str, Any], rules: MessageTokenRules) -> int:
    match block.get("type"):
        case "text":
            return _length(block.get("text"))
        case "thinking":
            return _length(block.get("thinking"))
        case "toolCall":
            return _length(block.get("name")) + js.utf16_len(_arguments_text(block, rules))
    return 0


def _arguments_text(call: Mapping[str, Any], rules: MessageTokenRules) -> str:
    if "arguments" not in call:
        if rules.missing_arguments is None:
            raise UnmeasurableMessage("a tool call without arguments has no length in this version")
        return rules.missing_arguments
    try:
        return js.json_text(call["arguments"])
    except js.NoJson:
        return UNSERIALISABLE


def _length(value: object) -> int:
    return js.utf16_len(value) if isinstance(value, str) else 0
