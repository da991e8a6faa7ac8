"""Gemini CLI's sessions: one JSON document, or a header and a message a line (0.40 and later).

A message holds the tool calls of the model and what they returned; its tokens are those of its call, cached
ones counted inside the input.
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
    text_block,
)
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.transcript import JsonObject

NAME: Final = "gemini-cli"


def looks_like(record: JsonObject) -> bool:
    return isinstance(record.get("sessionId"), str) and "projectHash" in record


class GeminiCli:
    """One session; nothing is held back."""

    holds = False

    def __init__(self) -> None:
        self.thread = Thread("gemini-")
        self._has_header = False

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        if looks_like(record):
            yield from self._session(record)
            return
        kind, at = record.get("type"), record.get("timestamp")
        content = blocks_of(record.get("content", record.get("parts")))
        if kind == "user":
            identity = text(record.get("id"))
            yield self.thread.message(at, "user", content, identity=identity)
        elif kind in ("gemini", "model"):
            yield from self._answer(record, content)
        else:
            name = text(kind) or "record"
            yield self.thread.kept(at, f"{NAME}.{name}", record)

    def held(self) -> list[SessionRecord]:
        return []

    def _session(self, record: JsonObject) -> Iterator[SessionRecord]:
        """The header, and the messages where the whole session is one document."""
        messages = items(record.get("messages"))
        at = record.get("startTime")
        if self._has_header:
            yield self.thread.kept(at, f"{NAME}.session", {**record, "messages": None})
        else:
            self._has_header = True
            yield self.thread.header(text(record.get("sessionId")), at)
        for message in messages:
            if not looks_like(obj(message)):
                yield from self.translate(obj(message))

    def _answer(self, record: JsonObject, content: list[JsonObject]) -> Iterator[SessionRecord]:
        calls = [obj(call) for call in items(record.get("toolCalls"))]
        at, thoughts = record.get("timestamp"), _thoughts(record)
        asked = [call_block(c.get("id"), c.get("name"), obj(c.get("args"))) for c in calls]
        said = [block for block in content if block.get("text") != ""]
        tokens = obj(record.get("tokens"))
        billed: dict[str, Any] = {"usage": _usage(tokens)} if tokens else {}
        yield self.thread.message(
            at,
            "assistant",
            [*thoughts, *said, *asked],
            provider="google",
            model=text(record.get("model")),
            stopReason="toolUse" if calls else "stop",
            identity=text(record.get("id")),
            **billed,
        )
        for call in calls:
            returned, failed = _returned(call), call.get("status") in ("error", "cancelled")
            yield self.thread.result(
                call.get("timestamp", at),
                text(call.get("id")),
                text(call.get("name")),
                [text_block(returned)],
                failed,
            )


def _thoughts(record: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = []
    for thought in map(obj, items(record.get("thoughts"))):
        parts = (text(thought.get("subject")), text(thought.get("description")))
        found.append({"type": "thinking", "thinking": "\n".join(filter(None, parts))})
    return found


def _usage(tokens: JsonObject) -> JsonObject:
    """Input counts cached tokens; thoughts and tool tokens are billed beside the output."""

    def count(name: str) -> float:
        value = tokens.get(name)
        return value if js.is_finite(value) else 0

    return {
        "input": max(count("input") - count("cached"), 0),
        "cacheRead": count("cached"),
        "output": count("output") + count("thoughts"),
    }


def _returned(call: JsonObject) -> str:
    """What the model was given of a tool's result, else what a person was shown."""
    found = list(_texts(call.get("result"), 6))
    return "\n".join(found) or text(call.get("resultDisplay"))


def _texts(value: object, depth: int) -> Iterator[str]:
    """The texts of a result but for the names in it; it is nested some levels deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _texts(item, depth - 1)
    elif isinstance(value, dict) and depth:
        for key, item in value.items():
            if key not in ("id", "name"):
                yield from _texts(item, depth - 1)
