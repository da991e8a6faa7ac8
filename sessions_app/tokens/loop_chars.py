"""How many characters is a message to the guard that runs before every model call of a tool loop.

UTF-16 units without any weight for CJK; tool results count twice, because they are denser in tokens
than prose (spec budgets 4.6, pruning 10.1, profiles 2.9). Since 2026.9 a character of a CJK script in
a tool result counts what it weighs where that is more (spec profiles 5.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import is_tool_result
from sessions_app.tokens.text_weight import text_weight
from sessions_app.transcripts.session_context import rendered_text

IMAGE_CHARS: Final = 8000
OTHER_MESSAGE_CHARS: Final = 256
UNSERIALISABLE_CHARS: Final = 256
UNSERIALISABLE_ARGUMENTS_CHARS: Final = 128
RESULT_WEIGHT: Final = 2


@dataclass(frozen=True, slots=True)
class LoopCharRules:
    """What differs by version (spec profiles 1.2).

    ``counts_details``: a tool result's ``details`` weigh in. ``rejects_malformed_text``: a text block
    without a string fails as in the runtime; otherwise its JSON is counted. ``weighs_results``: texts of
    results count by weight. ``renders``: what is no message of the conversation counts as the model
    reads it, and not a flat number.
    """

    counts_details: bool
    rejects_malformed_text: bool
    weighs_results: bool = False
    renders: bool = False
    image_chars: int = IMAGE_CHARS


OPENCLAW_2026_3: Final = LoopCharRules(counts_details=True, rejects_malformed_text=True)
OPENCLAW_2026_4_20: Final = OPENCLAW_2026_3
OPENCLAW_2026_5_28: Final = LoopCharRules(counts_details=False, rejects_malformed_text=False)
OPENCLAW_2026_9: Final = replace(OPENCLAW_2026_5_28, weighs_results=True, renders=True)


def loop_message_chars(message: object, rules: LoopCharRules = OPENCLAW_2026_5_28) -> int:
    """Estimated characters of one message; 0 for what is not an object.

    Raises:
        TypeError: where the version's runtime fails too, in its words: a text block without text.
    """
    if not isinstance(message, Mapping):
        return 0
    content = message.get("content")
    role = message.get("role")
    if role == "user":
        return js.utf16_len(content) if isinstance(content, str) else _blocks(content, rules)
    if role == "assistant":
        return _answer(content)
    if is_tool_result(message):
        if rules.weighs_results:
            return result_weight(content, rules)
        chars = js.utf16_len(content) if isinstance(content, str) else _blocks(content, rules)
        if rules.counts_details and "details" in message:
            chars += json_chars(message["details"])
        return RESULT_WEIGHT * chars
    if rules.renders and role == "custom":
        return js.utf16_len(content) if isinstance(content, str) else _blocks(content, rules)
    rendered = rendered_text(message) if rules.renders else None
    return OTHER_MESSAGE_CHARS if rendered is None else js.utf16_len(rendered)


def result_weight(content: object, rules: LoopCharRules) -> int:
    """Weight of a tool result's content, every unit at least twice."""
    if isinstance(content, str):
        return text_weight(content, RESULT_WEIGHT)
    return sum(block_weight(block, rules) for block in content) if isinstance(content, list) else 0


def block_weight(block: object, rules: LoopCharRules) -> int:
    """Weight of one block of a tool result."""
    text = block.get("text") if isinstance(block, Mapping) and block.get("type") == "text" else None
    if isinstance(text, str):
        return text_weight(text, RESULT_WEIGHT)
    return RESULT_WEIGHT * _block(block, rules)


def json_chars(value: object) -> int:
    """A string by its own length, anything else by the length of its JSON text."""
    if isinstance(value, str):
        return js.utf16_len(value)
    return _json_length(value, UNSERIALISABLE_CHARS)


def _json_length(value: object, unserialisable: int) -> int:
    try:
        return js.utf16_len(js.json_text(value))
    except js.NoJson:
        return unserialisable


def _blocks(content: object, rules: LoopCharRules) -> int:
    return sum(_block(block, rules) for block in content) if isinstance(content, list) else 0


def _block(block: object, rules: LoopCharRules) -> int:
    if isinstance(block, Mapping):
        if block.get("type") == "image":
            return rules.image_chars
        if block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                return js.utf16_len(text)
            if rules.rejects_malformed_text:
                kind = "null" if "text" in block and text is None else "undefined"
                raise TypeError(f"Cannot read properties of {kind} (reading 'length')")
    return json_chars(block)


def _answer(content: object) -> int:
    if not isinstance(content, list):
        return 0
    return sum(_answer_block(block) for block in content if isinstance(block, Mapping))


def _answer_block(block: Mapping[str, Any]) -> int:
    kind = block.get("type")
    if kind in ("text", "thinking") and isinstance(block.get(kind), str):
        return js.utf16_len(block[kind])
    if kind == "toolCall":
        arguments = block.get("arguments")
        # Also a bare string counts as JSON here, with its quotes.
        return _json_length({} if arguments is None else arguments, UNSERIALISABLE_ARGUMENTS_CHARS)
    return json_chars(block)
