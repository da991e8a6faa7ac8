"""What counts as a tool call, which result belongs to it, and which calls a history may hold.

Shared by the session guard, which pairs while it stores, and the repair before a replay (spec pruning
7.3, 7.6, 9.1 and 9.2, profiles 2.8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sessions_app.tokens import javascript as js

CALL_TYPES: Final = frozenset({"toolCall", "toolUse", "functionCall"})
SNAKE_CALL_TYPES: Final = frozenset({"tool_call", "tool_use", "function_call"})
MISSING_RESULT_TEXT: Final = (
    "[openclaw] missing tool result in session history; "
    "inserted synthetic error result for transcript repair."
)
MISSING_DETAILS: Final = {
    "openclawSyntheticMissingToolResult": True,
    "reason": "missing_tool_result",
}
RESPONSES_APIS: Final = frozenset(
    {"openai-responses", "azure-openai-responses", "openai-codex-responses"}
)
REDACTED_ATTACHMENT: Final = "__OPENCLAW_REDACTED__"
UNKNOWN_TOOL: Final = "unknown"

_MAX_NAME_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class ToolCallRules:
    """How a version recognises calls and results.

    ``result_id_fields`` are read in order, trimmed when ``trims_result_ids``. A block of
    ``checked_types`` must carry an input, a non-blank id in one of ``call_id_fields`` and a name of
    ``name_chars``. ``missing_text_option``: whether a caller may set the text of a missing result.
    ``redacts_attachments``: whether contents of sub-agent attachments are blanked. ``marks_missing``:
    an error result says in its details that it was made up. ``completes_results``: a result without a
    name is named "unknown", and where it does not say so it is no error.
    """

    result_id_fields: tuple[str, ...]
    trims_result_ids: bool
    checked_types: frozenset[str]
    call_id_fields: tuple[str, ...]
    name_chars: re.Pattern[str]
    missing_text_option: bool
    redacts_attachments: bool = False
    marks_missing: bool = False
    completes_results: bool = False


TOOL_CALLS_2026_3: Final = ToolCallRules(
    result_id_fields=("toolCallId", "toolUseId"),
    trims_result_ids=False,
    checked_types=CALL_TYPES,
    call_id_fields=("id",),
    name_chars=re.compile(r"[A-Za-z0-9_-]+\Z"),
    missing_text_option=False,
    redacts_attachments=True,
)
_RESULT_ID_FIELDS = (
    "toolCallId",
    "toolUseId",
    "tool_call_id",
    "tool_use_id",
    "callId",
    "call_id",
)
_CALL_ID_FIELDS = ("id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id")
TOOL_CALLS_2026_4_20: Final = ToolCallRules(
    result_id_fields=("toolCallId", "toolUseId"),
    trims_result_ids=False,
    checked_types=CALL_TYPES | SNAKE_CALL_TYPES,
    call_id_fields=_CALL_ID_FIELDS,
    name_chars=re.compile(r"[A-Za-z0-9_:.-]+\Z"),
    missing_text_option=False,
)
TOOL_CALLS_2026_5_28: Final = ToolCallRules(
    result_id_fields=_RESULT_ID_FIELDS,
    trims_result_ids=True,
    checked_types=CALL_TYPES | SNAKE_CALL_TYPES,
    call_id_fields=_CALL_ID_FIELDS,
    name_chars=re.compile(r"[A-Za-z0-9_:.-]+\Z"),
    missing_text_option=True,
)

TOOL_CALLS_2026_9: Final = replace(TOOL_CALLS_2026_5_28, marks_missing=True, completes_results=True)


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str | None


def tool_calls(message: Any) -> list[ToolCall]:
    """The calls of an assistant message: camel-case blocks with an id (spec pruning 9.1)."""
    content = message.get("content") if isinstance(message, Mapping) else None
    calls = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, Mapping) or block.get("type") not in CALL_TYPES:
            continue
        call_id, name = block.get("id"), block.get("name")
        if isinstance(call_id, str) and call_id:
            calls.append(ToolCall(call_id, name if isinstance(name, str) else None))
    return calls


def result_ids(message: Mapping[str, Any], rules: ToolCallRules) -> list[str]:
    """All ids a tool result answers to, without repeats, the one that counts first."""
    ids: list[str] = []
    for name in rules.result_id_fields:
        value = message.get(name)
        if isinstance(value, str):
            value = js.trim(value) if rules.trims_result_ids else value
            if value and value not in ids:
                ids.append(value)
    return ids


def result_id(message: Mapping[str, Any], rules: ToolCallRules) -> str | None:
    ids = result_ids(message, rules)
    return ids[0] if ids else None


def normal_result_name(
    message: Any, fallback: object = None, rules: ToolCallRules = TOOL_CALLS_2026_5_28
) -> Any:
    """A tool result with its tool name trimmed or filled in; otherwise the same object (7.3)."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return message
    name = message.get("toolName")
    if rules.completes_results and not isinstance(name, str) and "isError" not in message:
        message = {**message, "isError": False}
    given = js.trim(name) if isinstance(name, str) else ""
    spare = js.trim(fallback) if isinstance(fallback, str) else ""
    if given:
        return message if given == name else {**message, "toolName": given}
    if spare:
        return {**message, "toolName": spare}
    unnamed = isinstance(name, str) or rules.completes_results
    return {**message, "toolName": UNKNOWN_TOOL} if unnamed else message


def missing_result(
    call_id: str, name: str | None, text: str | None, now_ms: float, rules: ToolCallRules
) -> dict[str, Any]:
    """The error result that stands in for one that never came (7.6)."""
    words = text if rules.missing_text_option and text is not None else MISSING_RESULT_TEXT
    mark = {"details": dict(MISSING_DETAILS)} if rules.marks_missing else {}
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": UNKNOWN_TOOL if name is None else name,
        "content": [{"type": "text", "text": words}],
        **mark,
        "isError": True,
        "timestamp": now_ms,
    }


def run_missing_text(model_api: str | None) -> str | None:
    """The text a run gives error results: "aborted" for the Responses APIs, else the rule's own."""
    return "aborted" if model_api in RESPONSES_APIS else None


def allowed_names(names: Any) -> frozenset[str] | None:
    """An allow list as names are compared; none when it lists nothing."""
    listed = frozenset(filter(None, map(js.norm, names if isinstance(names, list) else ())))
    return listed or None


def sanitize_tool_calls(
    messages: Sequence[Any], rules: ToolCallRules, allowed: frozenset[str] | None = None
) -> Sequence[Any]:
    """Messages without calls that no provider would accept; the same list when all are fine (9.2).

    An assistant message left without content is dropped.
    """
    kept = []
    for message in messages:
        clean = _sanitized(message, rules, allowed)
        if clean is message or clean["content"]:
            kept.append(clean)
    unchanged = len(kept) == len(messages) and all(
        a is b for a, b in zip(kept, messages, strict=True)
    )
    return messages if unchanged else kept


def _sanitized(message: Any, rules: ToolCallRules, allowed: frozenset[str] | None) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list) or message.get("role") != "assistant":
        return message
    blocks = []
    changed = False
    for block in content:
        clean = block
        if isinstance(block, Mapping) and block.get("type") in rules.checked_types:
            clean = _clean_call(block, rules) if _is_valid(block, rules, allowed) else None
            changed = changed or clean is not block
        if clean is not None or clean is block:
            blocks.append(clean)
    return {**message, "content": blocks} if changed else message


def _is_valid(
    block: Mapping[str, Any], rules: ToolCallRules, allowed: frozenset[str] | None
) -> bool:
    if block.get("input") is None and block.get("arguments") is None:
        return False
    ids = (block.get(name) for name in rules.call_id_fields)
    if not any(isinstance(value, str) and not js.is_blank(value) for value in ids):
        return False
    name = block.get("name")
    trimmed = js.trim(name) if isinstance(name, str) else ""
    if len(trimmed) > _MAX_NAME_CHARS or rules.name_chars.match(trimmed) is None:
        return False
    return allowed is None or trimmed.lower() in allowed


def _clean_call(block: Mapping[str, Any], rules: ToolCallRules) -> Mapping[str, Any]:
    name = js.trim(block["name"])
    changes: dict[str, Any] = {} if name == block["name"] else {"name": name}
    if rules.redacts_attachments and name.lower() == "sessions_spawn":
        for key in ("arguments", "input"):
            held = block.get(key)
            if isinstance(held, Mapping) and isinstance(held.get("attachments"), list):
                hidden = [_hidden(attachment) for attachment in held["attachments"]]
                changes[key] = {**held, "attachments": hidden}
    return {**block, **changes} if changes else block


def _hidden(attachment: Any) -> Any:
    if not isinstance(attachment, Mapping) or "content" not in attachment:
        return attachment
    return {**attachment, "content": REDACTED_ATTACHMENT}


def without_details(messages: Sequence[Any]) -> Sequence[Any]:
    """Tool results without ``details``; the same list when none had any (9.3)."""
    if not any(_has_details(message) for message in messages):
        return messages
    return [
        {k: v for k, v in message.items() if k != "details"} if _has_details(message) else message
        for message in messages
    ]


def _has_details(message: Any) -> bool:
    return (
        isinstance(message, Mapping)
        and message.get("role") == "toolResult"
        and "details" in message
    )
