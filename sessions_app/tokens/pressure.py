"""How many tokens will a prompt press into the window, guessed high: the pre-prompt check's estimate.

Characters of CJK scripts weigh four, tool results count two characters a token, JSON three, every
message and block has an overhead, and the whole is multiplied by a safety margin (spec budgets 4.3).
Since 2026.9 scripts weigh by class, and summaries and commands count as the model reads them (spec
profiles 5.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import OPENCLAW_2026_4_20, message_tokens, messages_tokens
from sessions_app.tokens.text_weight import text_weight
from sessions_app.transcripts.session_context import rendered_text

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


@dataclass(frozen=True, slots=True)
class PressureRules:
    """What differs by version.

    ``weight`` of a text. ``dense_results``: a tool result costs a token for two units, and for four of
    its weight where that is more; otherwise for two of its weight. ``renders``: summaries and commands
    count as the model reads them, and not as the bare overhead.
    """

    weight: Callable[[str], int]
    dense_results: bool
    renders: bool


OPENCLAW_2026_5_28: Final = PressureRules(string_weight, dense_results=False, renders=False)
OPENCLAW_2026_9: Final = PressureRules(text_weight, dense_results=True, renders=True)


def tokens_from_chars(chars: float) -> int | float:
    """``ceil(max(0, chars) / 4)``; NaN stays NaN."""
    return js.ceil(js.maximum(0, chars) / CHARS_PER_TOKEN)


def text_tokens(
    text: str,
    chars_per_token: int = CHARS_PER_TOKEN,
    rules: PressureRules = OPENCLAW_2026_5_28,
) -> int:
    if rules.dense_results and chars_per_token == RESULT_CHARS_PER_TOKEN:
        units = -(-js.utf16_len(text) // RESULT_CHARS_PER_TOKEN)
        return max(units, -(-rules.weight(text) // CHARS_PER_TOKEN))
    return -(-rules.weight(text) // chars_per_token)


def json_tokens(
    value: object,
    chars_per_token: int = JSON_CHARS_PER_TOKEN,
    rules: PressureRules = OPENCLAW_2026_5_28,
) -> int:
    """Tokens of a value's JSON text; 256 for a value that cannot be written."""
    try:
        return text_tokens(js.json_text(value), chars_per_token, rules)
    except js.NoJson:
        return UNSERIALISABLE_TOKENS


def tool_schema_pressure(tools: Sequence[Any], rules: PressureRules = OPENCLAW_2026_9) -> int:
    """Estimated tokens of the tools' schemas, with the safety margin (spec profiles 5.8)."""
    return int(js.ceil(json_tokens(tools, rules=rules) * SAFETY_MARGIN))


def tool_schema_chars_pressure(chars: int) -> int:
    """The same, of tools of which only the size of their JSON text is known."""
    return int(js.ceil(js.ceil(chars / JSON_CHARS_PER_TOKEN) * SAFETY_MARGIN))


def message_pressure(message: Mapping[str, Any], rules: PressureRules = OPENCLAW_2026_5_28) -> int:
    """Estimated tokens of one message; fields beside content, name and calls are not looked at.

    So a compaction summary, whose text stands in ``summary``, costs the bare overhead unless the
    version renders it.
    """
    return _Pressure(rules).of(message)


def is_tool_result(message: Mapping[str, Any]) -> bool:
    """Any shape of a tool result; a transcript may hold other dialects than the runtime's own."""
    return message.get("role") in ("toolResult", "tool") or message.get("type") == "toolResult"


def rendered_boundary_pressure(
    prompt: str, system_prompt: object = None, rules: PressureRules = OPENCLAW_2026_5_28
) -> int:
    """The estimate of a prompt whose messages are already in it."""
    return pre_prompt_pressure((), prompt, system_prompt, rules)


def pre_prompt_pressure(
    messages: Iterable[Mapping[str, Any]],
    prompt: str,
    system_prompt: object = None,
    rules: PressureRules = OPENCLAW_2026_5_28,
) -> int:
    """Estimated tokens of history, system prompt and prompt, with the safety margin on all of it."""
    total = sum(message_pressure(message, rules) for message in messages)
    if isinstance(system_prompt, str) and not js.is_blank(system_prompt):
        total += MESSAGE_OVERHEAD + text_tokens(system_prompt, rules=rules)
    total += MESSAGE_OVERHEAD + text_tokens(prompt, rules=rules)
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


class _Pressure:
    """The estimate of one message under a version's rules."""

    def __init__(self, rules: PressureRules) -> None:
        self.rules = rules

    def of(self, message: Mapping[str, Any]) -> int:
        if self.rules.renders:
            if message.get("role") == "bashExecution" and js.is_truthy(
                message.get("excludeFromContext")
            ):
                return 0
            rendered = rendered_text(message)
            if rendered is not None:
                return MESSAGE_OVERHEAD + self.text(rendered)
        if is_tool_result(message):
            body = self._content(message, RESULT_CHARS_PER_TOKEN, RESULT_CHARS_PER_TOKEN)
            name = message.get("toolName")
            body += self._identifier(message.get("tool_name") if name is None else name)
        elif message.get("role") == "assistant":
            body = self._answer(message)
        else:
            body = self._content(message, CHARS_PER_TOKEN, JSON_CHARS_PER_TOKEN)
        return MESSAGE_OVERHEAD + body

    def text(self, text: str, chars_per_token: int = CHARS_PER_TOKEN) -> int:
        return text_tokens(text, chars_per_token, self.rules)

    def json(self, value: object, chars_per_token: int = JSON_CHARS_PER_TOKEN) -> int:
        return json_tokens(value, chars_per_token, self.rules)

    def _content(
        self, message: Mapping[str, Any], chars_per_token: int, other_chars_per_token: int
    ) -> int:
        """A missing content costs nothing, a null one its four characters of JSON."""
        if "content" not in message:
            return 0
        content = message["content"]
        if isinstance(content, str):
            return self.text(content, chars_per_token)
        if isinstance(content, list):
            return sum(self._block(block, chars_per_token) for block in content)
        return self.json(content, other_chars_per_token)

    def _block(self, block: object, chars_per_token: int) -> int:
        if isinstance(block, str):
            return self.text(block, chars_per_token)
        if not isinstance(block, js.OBJECT):
            return self.json(block, chars_per_token)
        kind = block.get("type")
        if kind == "image":
            return IMAGE_TOKENS
        if kind in ("text", "thinking") and isinstance(block.get(kind), str):
            return BLOCK_OVERHEAD + self.text(block[kind], chars_per_token)
        return BLOCK_OVERHEAD + self.json(block, chars_per_token)

    def _answer(self, message: Mapping[str, Any]) -> int:
        content = message.get("content")
        if isinstance(content, list):
            total = sum(
                self._call(block) if self._is_call(block) else self._block(block, CHARS_PER_TOKEN)
                for block in content
            )
        else:
            total = self._content(message, CHARS_PER_TOKEN, JSON_CHARS_PER_TOKEN)
        calls = message.get("toolCalls")
        calls = message.get("tool_calls") if calls is None else calls
        if isinstance(calls, list):
            total += sum(
                self._call(call) if isinstance(call, js.OBJECT) else self.json(call)
                for call in calls
            )
        return total

    @staticmethod
    def _is_call(block: object) -> bool:
        return isinstance(block, js.OBJECT) and block.get("type") in ("toolCall", "tool_use")

    def _call(self, call: Mapping[str, Any]) -> int:
        given = (call.get(key) for key in ("arguments", "input", "args"))
        arguments: object = next((value for value in given if value is not None), {})
        return BLOCK_OVERHEAD + self._identifier(call.get("name")) + self.json(arguments)

    def _identifier(self, value: object) -> int:
        if value is None:
            return 0
        if isinstance(value, bool):
            return self.text("true" if value else "false", JSON_CHARS_PER_TOKEN)
        if js.is_number(value):
            return self.text(js.number_text(value), JSON_CHARS_PER_TOKEN)
        if isinstance(value, str):
            return self.text(value, JSON_CHARS_PER_TOKEN)
        return self.json(value)
