"""How many tokens will a prompt press into the window, guessed high: the pre-prompt check's estimate.

Characters of CJK scripts weigh four, tool results count two characters a token, JSON three, every
message and block has an overhead, and the whole is multiplied by a safety margin (spec budgets 4.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import OPENCLAW_2026_4_20, message_tokens, messages_tokens

CHARS_PER_TOKEN: Final = 4
RESULT_CHARS_PER_TOKEN: Final = 2
JSON_CHARS_PER_TOKEN: Final = 3
CJK_WEIGHT: Final = 4
MESSAGE_OVERHEAD: Final = 12
BLOCK_OVERHEAD: Final = 6
IMAGE_TOKENS: Final = 2000
UNSERIALISABLE_TOKENS: Final = 256
SAFETY_MARGIN: Final = 1.2

_BELOW_CJK = re.compile("[\0-\u2e7f]*")
_NOT_CJK = re.compile(
    "[^\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]+"
)
# Every pair whose high half is D840-D87E collapses to one, also the few beyond the counted range.
_CJK_PAIR = re.compile("[\U00020000-\U0002fbff]")


def string_weight(text: str) -> int:
    """UTF-16 units of ``text``, with a CJK character as four units (spec budgets 4.3, pruning 12.1)."""
    if text.isascii() or _BELOW_CJK.fullmatch(text):  # most texts: one unit a character, none CJK
        return len(text)
    units = js.utf16_len(text)
    counted = len(_NOT_CJK.sub("", text))
    if not counted:
        return units
    pairs = len(_CJK_PAIR.findall(text)) if units != len(text) else 0
    return units - pairs + (CJK_WEIGHT - 1) * counted


def tokens_from_chars(chars: float) -> int | float:
    """``ceil(max(0, chars) / 4)``; NaN stays NaN."""
    return js.ceil(js.maximum(0, chars) / CHARS_PER_TOKEN)


def text_tokens(text: str, chars_per_token: int = CHARS_PER_TOKEN) -> int:
    return -(-string_weight(text) // chars_per_token)


def json_tokens(value: object, chars_per_token: int = JSON_CHARS_PER_TOKEN) -> int:
    """Tokens of a value's JSON text; 256 for a value that cannot be written."""
    try:
        return text_tokens(js.json_text(value), chars_per_token)
    except js.NoJson:
        return UNSERIALISABLE_TOKENS


def message_pressure(message: Mapping[str, Any]) -> int:
    """Estimated tokens of one message; fields beside content, name and calls are not looked at.

    So a compaction summary, whose text stands in ``summary``, costs the bare overhead.
    """
    if is_tool_result(message):
        body = _content(message, RESULT_CHARS_PER_TOKEN, RESULT_CHARS_PER_TOKEN)
        name = message.get("toolName")
        body += _identifier(message.get("tool_name") if name is None else name)
    elif message.get("role") == "assistant":
        body = _answer(message)
    else:
        body = _content(message, CHARS_PER_TOKEN, JSON_CHARS_PER_TOKEN)
    return MESSAGE_OVERHEAD + body


def is_tool_result(message: Mapping[str, Any]) -> bool:
    """Any shape of a tool result; a transcript may hold other dialects than the runtime's own."""
    return message.get("role") in ("toolResult", "tool") or message.get("type") == "toolResult"


def rendered_boundary_pressure(prompt: str, system_prompt: object = None) -> int:
    """The estimate of a prompt whose messages are already in it."""
    return pre_prompt_pressure((), prompt, system_prompt)


def pre_prompt_pressure(
    messages: Iterable[Mapping[str, Any]], prompt: str, system_prompt: object = None
) -> int:
    """Estimated tokens of history, system prompt and prompt, with the safety margin on all of it."""
    total = sum(message_pressure(message) for message in messages)
    if isinstance(system_prompt, str) and not js.is_blank(system_prompt):
        total += MESSAGE_OVERHEAD + text_tokens(system_prompt)
    total += MESSAGE_OVERHEAD + text_tokens(prompt)
    return int(js.ceil(total * SAFETY_MARGIN))


def plain_pre_prompt_pressure(
    messages: Iterable[Mapping[str, Any]], prompt: str, system_prompt: object = None
) -> int:
    """The estimate of 2026.4.20: length by four alone, and the system prompt counts nothing.

    (It is handed to the estimator as a message of role "system", a role that weighs 0.)
    """
    total = messages_tokens(messages, OPENCLAW_2026_4_20)
    total += message_tokens({"role": "user", "content": prompt}, OPENCLAW_2026_4_20)
    return int(js.ceil(total * SAFETY_MARGIN))


def _content(message: Mapping[str, Any], chars_per_token: int, other_chars_per_token: int) -> int:
    """A missing content costs nothing, a null one its four characters of JSON."""
    if "content" not in message:
        return 0
    content = message["content"]
    if isinstance(content, str):
        return text_tokens(content, chars_per_token)
    if isinstance(content, list):
        return sum(_block(block, chars_per_token) for block in content)
    return json_tokens(content, other_chars_per_token)


def _block(block: object, chars_per_token: int) -> int:
    if isinstance(block, str):
        return text_tokens(block, chars_per_token)
    if not isinstance(block, Mapping):
        return json_tokens(block, chars_per_token)
    kind = block.get("type")
    if kind == "image":
        return IMAGE_TOKENS
    if kind in ("text", "thinking") and isinstance(block.get(kind), str):
        return BLOCK_OVERHEAD + text_tokens(block[kind], chars_per_token)
    return BLOCK_OVERHEAD + json_tokens(block, chars_per_token)


def _answer(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    if isinstance(content, list):
        total = sum(
            _call(block) if _is_call(block) else _block(block, CHARS_PER_TOKEN) for block in content
        )
    else:
        total = _content(message, CHARS_PER_TOKEN, JSON_CHARS_PER_TOKEN)
    calls = message.get("toolCalls")
    calls = message.get("tool_calls") if calls is None else calls
    if isinstance(calls, list):
        total += sum(
            _call(call) if isinstance(call, Mapping) else json_tokens(call) for call in calls
        )
    return total


def _is_call(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") in ("toolCall", "tool_use")


def _call(call: Mapping[str, Any]) -> int:
    given = (call.get(key) for key in ("arguments", "input", "args"))
    arguments: object = next((value for value in given if value is not None), {})
    return BLOCK_OVERHEAD + _identifier(call.get("name")) + json_tokens(arguments)


def _identifier(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool):
        return text_tokens("true" if value else "false", JSON_CHARS_PER_TOKEN)
    if js.is_number(value):
        return text_tokens(js.number_text(value), JSON_CHARS_PER_TOKEN)
    if isinstance(value, str):
        return text_tokens(value, JSON_CHARS_PER_TOKEN)
    return json_tokens(value)
