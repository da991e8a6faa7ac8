"""SWE-agent's trajectories (``*.traj``): one JSON document with the history that the model saw.

No call says what it was billed; the totals at the end are kept beside the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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

NAME: Final = "swe-agent"


def looks_like(record: JsonObject) -> bool:
    return isinstance(record.get("trajectory"), list) and (
        isinstance(record.get("history"), list) or "info" in record
    )


class SweAgent:
    """One trajectory; nothing is held back."""

    holds = False

    def __init__(self) -> None:
        self.thread = Thread("swe-")
        self._tools: dict[str, str] = {}

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        yield self.thread.header(text(record.get("environment")) or NAME, None)
        history = items(record.get("history")) or list(_history(items(record.get("trajectory"))))
        for message in map(obj, history):
            yield self._message(message)
        info = obj(record.get("info"))
        if info:
            yield self.thread.kept(None, f"{NAME}.info", info)

    def held(self) -> list[SessionRecord]:
        return []

    def _message(self, message: JsonObject) -> SessionRecord:
        role, content = text(message.get("role")), blocks_of(message.get("content"))
        if role == "assistant":
            calls = [_call(obj(call)) for call in items(message.get("tool_calls"))]
            self._tools |= {call["id"]: call["name"] for call in calls}
            stop = "toolUse" if calls else "stop"
            return self.thread.message(None, "assistant", [*content, *calls], stopReason=stop)
        if role == "tool":
            call = text(next(iter(items(message.get("tool_call_ids"))), ""))
            return self.thread.result(None, call, self._tools.get(call, ""), content, False)
        if role == "user":
            return self.thread.message(None, "user", content)
        kind = f"{NAME}.{role or 'message'}"
        return self.thread.record(
            "custom_message", None, customType=kind, content=content, display=False
        )


def _call(call: JsonObject) -> JsonObject:
    function = obj(call.get("function"))
    return call_block(call.get("id"), function.get("name"), function.get("arguments"))


def _history(steps: list[object]) -> Iterator[JsonObject]:
    """The conversation of a trajectory that was written without one."""
    for step in map(obj, steps):
        yield {"role": "assistant", "content": text(step.get("response"))}
        yield {"role": "user", "content": text(step.get("observation"))}
