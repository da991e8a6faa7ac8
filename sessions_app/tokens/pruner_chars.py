"""How many characters is a message to cache-TTL pruning, which compares a context with its window.

Unlike the guard of a tool loop it does not count tool results twice; since 2026.4.20 a CJK character
weighs four (spec pruning 12.1 and 12.2, profiles 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import string_weight
from sessions_app.tokens.text_weight import text_weight

IMAGE_CHARS: Final = 8000
OTHER_MESSAGE_CHARS: Final = 256
UNSERIALISABLE_ARGUMENTS_CHARS: Final = 128
UNSERIALISABLE_TEXT: Final = "[malformed text block]"
IMAGE_MARKER: Final = "[image removed during context pruning]"


@dataclass(frozen=True, slots=True)
class PrunerCharRules:
    """What differs by version.

    ``weight`` of a text. ``weighs_signatures``: whether signatures of thinking, and redacted thinking,
    count. ``rejects_malformed``: a text block without text, or a block that is null, fails as in the
    runtime; otherwise the one counts by its JSON and the other nothing. ``keeps_pairs``: a soft trim
    splits no surrogate pair.
    """

    weight: Callable[[str], int]
    weighs_signatures: bool
    rejects_malformed: bool
    keeps_pairs: bool = False
    image_chars: int = IMAGE_CHARS


OPENCLAW_2026_3: Final = PrunerCharRules(
    weight=js.utf16_len, weighs_signatures=False, rejects_malformed=True
)
OPENCLAW_2026_4_20: Final = PrunerCharRules(
    weight=string_weight, weighs_signatures=True, rejects_malformed=False
)
OPENCLAW_2026_5_28: Final = OPENCLAW_2026_4_20
OPENCLAW_2026_9: Final = replace(OPENCLAW_2026_5_28, weight=text_weight, keeps_pairs=True)


def pruner_context_chars(messages: Iterable[Any], rules: PrunerCharRules) -> int:
    return sum(pruner_message_chars(message, rules) for message in messages)


def pruner_message_chars(message: Any, rules: PrunerCharRules) -> int:
    """Estimated characters of one message.

    A string content of an answer or a tool result counts nothing: the runtime iterates over it.

    Raises:
        TypeError: where the runtime fails too: no content to iterate over, or a malformed block where
            the version rejects those. The text is the runtime's.
    """
    role = message.get("role") if isinstance(message, js.OBJECT) else None
    if role == "assistant":
        blocks = _objects(message, "message.content")
        return sum(_answer_block(block, rules) for block in blocks)
    if role in ("user", "toolResult"):
        content = message.get("content")
        if role == "user" and isinstance(content, str):
            return rules.weight(content)
        return sum(_block(block, rules) for block in blocks_of(message, "content", rules))
    return OTHER_MESSAGE_CHARS


def blocks_of(
    message: Mapping[str, Any], name: str, rules: PrunerCharRules
) -> Iterator[Mapping[str, Any]]:
    """The blocks of a prompt or a tool result that are objects.

    ``name`` is what the runtime's error calls the content.
    """
    for block in _items(message, name):
        if block is None and rules.rejects_malformed:
            raise TypeError("Cannot read properties of null (reading 'type')")
        if isinstance(block, js.OBJECT):
            yield block


def _objects(message: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    return (block for block in _items(message, name) if isinstance(block, js.OBJECT))


def _items(message: Mapping[str, Any], name: str) -> Sequence[Any]:
    content = message.get("content")
    if isinstance(content, str):
        return ()
    if not isinstance(content, list):
        raise TypeError(f"{name} is not iterable")
    return content


def text_of_block(block: Mapping[str, Any], rules: PrunerCharRules) -> str | None:
    """The text a text block stands for, none for other blocks."""
    if block.get("type") != "text":
        return None
    text = block.get("text")
    if isinstance(text, str):
        return text
    if rules.rejects_malformed:
        kind = "null" if "text" in block and text is None else "undefined"
        raise TypeError(f"Cannot read properties of {kind} (reading 'length')")
    try:
        return js.json_text(block)
    except js.NoJson:
        return UNSERIALISABLE_TEXT


def view_parts(message: Mapping[str, Any], rules: PrunerCharRules) -> list[str]:
    """What a soft trim makes of a tool result: its texts, and a marker for each image.

    Raises:
        TypeError: as ``pruner_message_chars``.
    """
    blocks = list(blocks_of(message, "message.content", rules))
    parts = (
        IMAGE_MARKER if block.get("type") == "image" else text_of_block(block, rules)
        for block in blocks
    )
    return [part for part in parts if part is not None]


def view_length(parts: Sequence[str]) -> int:
    """UTF-16 units of the parts joined by newlines: what a soft trim measures."""
    return sum(map(js.utf16_len, parts)) + max(0, len(parts) - 1)


def _block(block: Mapping[str, Any], rules: PrunerCharRules) -> int:
    if block.get("type") == "image":
        return rules.image_chars
    text = text_of_block(block, rules)
    return 0 if text is None else rules.weight(text)


def _answer_block(block: Mapping[str, Any], rules: PrunerCharRules) -> int:
    kind = block.get("type")
    if kind == "toolCall":
        arguments = block.get("arguments")
        try:
            return js.utf16_len(js.json_text({} if arguments is None else arguments))
        except js.NoJson:
            return UNSERIALISABLE_ARGUMENTS_CHARS
    names: tuple[str, ...] = ()
    if kind == "text":
        names = ("text",)
    elif kind == "thinking":
        names = ("thinking", "thinkingSignature") if rules.weighs_signatures else ("thinking",)
    elif kind == "redacted_thinking" and rules.weighs_signatures:
        names = ("thinking", "data", "thinkingSignature")
    return sum(rules.weight(block[n]) for n in names if isinstance(block.get(n), str))
