"""The plain form: one JSON message a line, as the APIs of OpenAI or Anthropic take them.

``{"role": "user", "content": "..."}``; also ``tool_calls`` and ``tool_call_id``, blocks of type ``tool_use`` and
``tool_result``, and where they are known ``usage``, ``model``, ``timestamp`` (or ``created_at``) and ``id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sessions_app.importers.translation import (
    SessionRecord,
    Thread,
    blocks_of,
    call_block,
    items,
    obj,
    text,
)
from sessions_app.transcripts.transcript import JsonObject

NAME: Final = "plain"
ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
STOP_REASONS: Final = {
    "tool_use": "toolUse", "tool_calls": "toolUse", "end_turn": "stop", "stop": "stop", "length": "length",
    "max_tokens": "length",
}  # fmt: skip


def looks_like(record: JsonObject) -> bool:
    role, content = record.get("role"), record.get("content")
    is_said = isinstance(content, str | list) or isinstance(record.get("tool_calls"), list)
    return isinstance(role, str) and role in ROLES and is_said and "type" not in record


class Plain:
    """One conversation; nothing is held back."""

    holds = False

    def __init__(self) -> None:
        self.thread = Thread("plain-")
        self._tools: dict[str, str] = {}
        self._has_header = False

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        at = record.get("timestamp", record.get("created_at"))
        if not self._has_header:
            self._has_header = True
            yield self.thread.header(NAME, at)
        role = record.get("role")
        if role == "assistant":
            yield self._answer(record, at)
        elif role == "tool":
            yield self._result(record, at, record.get("tool_call_id"), record.get("content"), False)
        elif role == "user":
            yield from self._user(record, at)
        elif isinstance(role, str) and role in ROLES:
            yield self.thread.record(
                "custom_message",
                at,
                customType=f"{NAME}.{role}",
                content=blocks_of(record.get("content")),
                display=False,
            )
        else:
            yield self.thread.kept(at, f"{NAME}.record", record)

    def held(self) -> list[SessionRecord]:
        return []

    def _answer(self, record: JsonObject, at: object) -> SessionRecord:
        asked = [_call(obj(call)) for call in items(record.get("tool_calls"))]
        blocks = [*blocks_of(record.get("content")), *asked]
        self._tools |= {b["id"]: b["name"] for b in blocks if b.get("type") == "toolCall"}
        stop = STOP_REASONS.get(
            text(record.get("stop_reason")) or text(record.get("finish_reason"))
        )
        known: dict[str, Any] = {"usage": record.get("usage"), "stopReason": stop}
        return self.thread.message(
            at,
            "assistant",
            blocks,
            model=text(record.get("model")),
            identity=text(record.get("id")),
            **{name: value for name, value in known.items() if value is not None},
        )

    def _user(self, record: JsonObject, at: object) -> Iterator[SessionRecord]:
        content = record.get("content")
        said = [b for b in items(content) if obj(b).get("type") != "tool_result"]
        for block in (obj(b) for b in items(content) if obj(b).get("type") == "tool_result"):
            failed = block.get("is_error") is True
            yield self._result({}, at, block.get("tool_use_id"), block.get("content"), failed)
        if said or not isinstance(content, list):
            told = content if isinstance(content, str) else blocks_of(said)
            yield self.thread.message(at, "user", told, identity=text(record.get("id")))

    def _result(
        self, record: JsonObject, at: object, call: object, content: object, failed: bool
    ) -> SessionRecord:
        name = text(record.get("name")) or self._tools.get(text(call), "")
        return self.thread.result(at, text(call), name, blocks_of(content), failed)


def _call(call: JsonObject) -> JsonObject:
    function = obj(call.get("function"))
    return call_block(call.get("id"), function.get("name"), function.get("arguments"))
