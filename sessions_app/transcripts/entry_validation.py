"""Whether one line of a transcript is an entry that can be trusted (spec budgets 7.4, strict loader).

Kept apart from loading: this says which shapes are sound, not what becomes of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from sessions_app.tokens import javascript as js

Entry = Mapping[str, Any]

TOOL_CALL_TYPES: Final = frozenset(
    {"functionCall", "function_call", "toolCall", "toolUse", "tool_call", "tool_use"}
)
TOOL_CALL_ID_KEYS: Final = (
    "id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id"
)  # fmt: skip
_ARGUMENTS: Final = (str, dict, type(None))
_MISSING: Final = object()


def is_sound_entry(value: object) -> TypeGuard[Entry]:
    """Whether ``value`` is an entry of a known type with every field that type needs."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    check = _ENTRY_CHECKS.get(kind) if isinstance(kind, str) else None
    if check is None or not is_name(value.get("id")):
        return False
    parent = value.get("parentId")
    if parent is not None and not is_name(parent):
        return False
    return ("timestamp" not in value or is_name(value["timestamp"])) and check(value)


def is_name(value: object) -> TypeGuard[str]:
    """A string with a character in it that is not white space."""
    # Most names show with their first character what they are.
    return isinstance(value, str) and (value[:1] not in js.SPACE or not js.is_blank(value))


def _is_sound_message_entry(entry: Entry) -> bool:
    message = entry.get("message")
    if not isinstance(message, dict):
        return False
    role = message.get("role")
    check = _MESSAGE_CHECKS.get(role) if isinstance(role, str) else None
    return check is not None and check(message)


def _is_sound_compaction(entry: Entry) -> bool:
    return (
        is_name(entry.get("firstKeptEntryId"))
        and isinstance(entry.get("summary"), str)
        and js.is_number(entry.get("tokensBefore"))
    )


def _is_sound_custom_message(entry: Entry) -> bool:
    return (
        is_name(entry.get("customType"))
        and _has_content(entry)
        and isinstance(entry.get("display"), bool)
    )


_ENTRY_CHECKS: Final[Mapping[str, Callable[[Entry], bool]]] = {
    "branch_summary": lambda e: is_name(e.get("fromId")) and isinstance(e.get("summary"), str),
    "compaction": _is_sound_compaction,
    "custom": lambda e: is_name(e.get("customType")),
    "custom_message": _is_sound_custom_message,
    "label": lambda e: is_name(e.get("targetId")) and _is_optional(e, "label", str),
    "message": _is_sound_message_entry,
    "model_change": lambda e: is_name(e.get("provider")) and is_name(e.get("modelId")),
    "session_info": lambda e: _is_optional(e, "name", str),
    "thinking_level_change": lambda e: is_name(e.get("thinkingLevel")),
}


def _has_content(holder: Entry) -> bool:
    content = holder.get("content")
    return isinstance(content, str) or _is_block_list(content)


def _is_block_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_block, value))


def _is_sound_tool_result(message: Entry) -> bool:
    return (
        is_name(message.get("toolCallId"))
        and is_name(message.get("toolName"))
        and isinstance(message.get("isError"), bool)
        and _is_block_list(message.get("content"))
    )


def _is_sound_bash_execution(message: Entry) -> bool:
    return (
        is_name(message.get("command"))
        and isinstance(message.get("output"), str)
        and js.is_number(message.get("exitCode", 0))
        and isinstance(message.get("cancelled"), bool)
        and isinstance(message.get("truncated"), bool)
        and _is_optional(message, "fullOutputPath", str)
        and _is_optional(message, "excludeFromContext", bool)
    )


_MESSAGE_CHECKS: Final[Mapping[str, Callable[[Entry], bool]]] = {
    "assistant": _has_content,
    "bashExecution": _is_sound_bash_execution,
    "custom": lambda m: is_name(m.get("customType")) and _has_content(m),
    "toolResult": _is_sound_tool_result,
    "user": _has_content,
}


def _is_block(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind == "text":
        return isinstance(value.get("text"), str) and (
            "textSignature" not in value or isinstance(value["textSignature"], str)
        )
    if kind == "thinking":
        return (
            isinstance(value.get("thinking"), str)
            and _is_optional(value, "thinkingSignature", str)
            and _is_optional(value, "redacted", bool)
        )
    if kind == "image":
        return isinstance(value.get("data"), str) and isinstance(value.get("mimeType"), str)
    return is_name(kind) and (kind not in TOOL_CALL_TYPES or _is_tool_call(value))


def _is_tool_call(block: Entry) -> bool:
    return (
        any(map(is_name, map(block.get, TOOL_CALL_ID_KEYS)))
        and is_name(block.get("name"))
        and isinstance(block.get("arguments"), _ARGUMENTS)
        and isinstance(block.get("input"), _ARGUMENTS)
        and _is_optional(block, "thoughtSignature", str)
    )


def _is_optional(holder: Entry, key: str, kind: type) -> bool:
    """Missing, or of that type; a null is neither."""
    value = holder.get(key, _MISSING)
    return value is _MISSING or isinstance(value, kind)
