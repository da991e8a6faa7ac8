"""How many tokens is a message, by length alone: UTF-16 units divided by four.

The estimate behind cut points, chunk sizes, the flush's prompt estimate and the tokens left after a
compaction. No overhead per message, an image has a fixed size, and until 2026.9 no weight for CJK (spec
budgets 4.1, 4.2, profiles 5.3). The pre-prompt check weighs otherwise: see ``pressure``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.text_weight import text_weight

CHARS_PER_TOKEN: Final = 4
IMAGE_CHARS: Final = 4800
WEIGHED_IMAGE_CHARS: Final = 8000
OMITTED_CHARS: Final = 17
"""What a message costs on top of the lines that stand for what a summary cannot read."""
OMITTED_IMAGE: Final = "[image data omitted from summary input]"
OMITTED_DATA: Final = "[non-text data omitted from summary input]"
UNSERIALISABLE: Final = "[unserializable]"
RUNTIME_CONTEXT_TYPE: Final = "openclaw.runtime-context"


class UnmeasurableMessage(TypeError):
    """A message on which the version's own runtime fails."""


@dataclass(frozen=True, slots=True)
class MessageTokenRules:
    """What differs by version (spec profiles 1.5).

    ``missing_arguments`` stands for the arguments of a tool call that has none; ``None`` where the
    runtime fails on it. ``drops_runtime_context``: runtime-context messages are left out of sums.
    ``length`` of a text. ``counts_omitted``: what a summary's input leaves out of a message costs the
    lines that say so, images also in a user's message, and a command outside the context costs nothing.
    ``zero_usage_counts``: an all-zero usage (of the runtime's own replies) is a usage.
    """

    missing_arguments: str | None
    drops_runtime_context: bool
    length: Callable[[str], int] = js.utf16_len
    counts_omitted: bool = False
    zero_usage_counts: bool = True


OPENCLAW_2026_3: Final = MessageTokenRules(missing_arguments=None, drops_runtime_context=False)
OPENCLAW_2026_4_20: Final = OPENCLAW_2026_3
OPENCLAW_2026_5_28: Final = MessageTokenRules(
    missing_arguments="undefined", drops_runtime_context=True
)
OPENCLAW_2026_9: Final = replace(
    OPENCLAW_2026_5_28, length=text_weight, counts_omitted=True, zero_usage_counts=False
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
    """Units of what the estimate looks at (spec budgets 4.1); a malformed part counts 0.

    Raises:
        UnmeasurableMessage: as ``message_tokens``.
    """
    length = rules.length
    match message.get("role"):
        case "user" | "custom" | "toolResult" if rules.counts_omitted:
            return _summary_input_chars(message.get("content"), length)
        case "bashExecution" if rules.counts_omitted and js.is_truthy(
            message.get("excludeFromContext")
        ):
            return 0
        case "user":
            return _content_chars(message.get("content"), image_chars=0)
        case "custom" | "toolResult":
            return _content_chars(message.get("content"), image_chars=IMAGE_CHARS)
        case "assistant":
            return sum(_answer_chars(block, rules) for block in _blocks(message.get("content")))
        case "bashExecution":
            return sum(length(_string(message.get(key))) for key in ("command", "output"))
        case "branchSummary" | "compactionSummary":
            return length(_string(message.get("summary")))
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


def last_usage_index(
    messages: Sequence[Mapping[str, Any]], *, zero_counts: bool = True
) -> int | None:
    """The last assistant message whose usage can be trusted: neither aborted nor an error."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if (
            message.get("role") == "assistant"
            and message.get("stopReason") not in ("aborted", "error")
            and isinstance(message.get("usage"), Mapping)
            and (zero_counts or usage_tokens(message["usage"]))
        ):
            return index
    return None


def context_tokens(
    messages: Sequence[Mapping[str, Any]], rules: MessageTokenRules = OPENCLAW_2026_5_28
) -> ContextTokens:
    """The tokens of a context: the last usage plus the estimate of what follows (spec budgets 4.2).

    An all-zero usage still counts as usage, where the version does not say otherwise.
    """
    index = last_usage_index(messages, zero_counts=rules.zero_usage_counts)
    if index is None:
        everything = sum(message_tokens(message, rules) for message in messages)
        return ContextTokens(everything, 0, everything, None)
    billed = usage_tokens(messages[index]["usage"])
    trailing = sum(message_tokens(message, rules) for message in messages[index + 1 :])
    return ContextTokens(billed + trailing, billed, trailing, index)


def _blocks(content: object) -> list[Mapping[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, js.OBJECT)]


def _content_chars(content: object, image_chars: int) -> int:
    if isinstance(content, str):
        return js.utf16_len(content)
    chars = 0
    for block in _blocks(content):
        kind = block.get("type")
        if kind == "text":
            chars += js.utf16_len(_string(block.get("text")))
        elif kind == "image":
            chars += image_chars
    return chars


def _answer_chars(block: Mapping[str, Any], rules: MessageTokenRules) -> int:
    match block.get("type"):
        case "text":
            return rules.length(_string(block.get("text")))
        case "thinking":
            return rules.length(_string(block.get("thinking")))
        case "toolCall":
            name = _string(block.get("name"))
            return rules.length(name) + rules.length(_arguments_text(block, rules))
    return 0


def _summary_input_chars(content: object, length: Callable[[str], int]) -> int:
    """A content as a summary's input spells it out (spec profiles 5.3).

    The addition for a sender's name in a message's metadata is not known and left out.
    """
    if isinstance(content, str):
        return length(content)
    if not isinstance(content, list):
        raise UnmeasurableMessage("a message without content has no length in this version")
    blocks = _blocks(content)
    is_text = [block.get("type") in ("text", "toolResult", "tool_result") for block in blocks]
    texts = (block.get("text") for block, text in zip(blocks, is_text, strict=True) if text)
    chars = length("\n".join(text for text in texts if isinstance(text, str)))
    images = [block for block in blocks if block.get("type") == "image"]
    others = [
        block
        for block, text in zip(blocks, is_text, strict=True)
        if not text and block.get("type") != "image" and not isinstance(block.get("text"), str)
    ]
    notes = [note for note, of in ((OMITTED_IMAGE, images), (OMITTED_DATA, others)) if of]
    omitted = OMITTED_CHARS + length("\n".join(notes)) if notes else 0
    return chars + WEIGHED_IMAGE_CHARS * len(images) + omitted


def _arguments_text(call: Mapping[str, Any], rules: MessageTokenRules) -> str:
    if "arguments" not in call:
        if rules.missing_arguments is None:
            raise UnmeasurableMessage("a tool call without arguments has no length in this version")
        return rules.missing_arguments
    try:
        return js.json_text(call["arguments"])
    except js.NoJson:
        return UNSERIALISABLE


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
