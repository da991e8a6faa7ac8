"""Kimi's wire logs (``wire.jsonl``, protocol 1.4).

A step is one model call: its parts, tool calls and results come one by one, its usage with its end.
``context.apply_compaction`` is a compaction that says itself how many tokens it found and left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sessions_app.importers.translation import (
    HeldCall,
    SessionRecord,
    Thread,
    blocks_of,
    call_block,
    iso,
    obj,
    text,
    text_block,
)
from sessions_app.transcripts.transcript import JsonObject

NAME: Final = "kimi"
STOP_REASONS: Final = {"tool_use": "toolUse", "end_turn": "stop", "max_tokens": "length"}


def looks_like(record: JsonObject) -> bool:
    kind = record.get("type")
    if kind == "metadata":
        return "protocol_version" in record
    return kind in ("context.append_message", "context.append_loop_event") and "time" in record


class Kimi:
    """One wire log; a step is held until it ends."""

    def __init__(self) -> None:
        self.thread = Thread("kimi-")
        self._call = HeldCall()
        self._tools: dict[str, str] = {}
        self._model, self._provider = "", ""
        self._has_header = False
        self._at: object = None

    @property
    def holds(self) -> bool:
        return self._call.message is not None

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        kind = text(record.get("type"))
        self._at = iso(record.get("time", record.get("created_at")))
        if not self._has_header:
            self._has_header = True
            yield self.thread.header(NAME, self._at)
        if kind == "context.append_message":
            yield from self._message(obj(record.get("message")))
        elif kind == "context.append_loop_event":
            yield from self._event(record, obj(record.get("event")))
        elif kind == "context.apply_compaction":
            yield from self._compaction(record)
        else:
            if kind == "llm.request":
                self._model, self._provider = (
                    text(record.get("model")),
                    text(record.get("provider")),
                )
            yield from self._apart(self.thread.kept(self._at, f"{NAME}.{kind}", record))

    def held(self) -> list[SessionRecord]:
        return self._call.copies()

    def _finish(self) -> Iterator[SessionRecord]:
        yield from self._call.release()

    def _apart(self, made: SessionRecord) -> Iterator[SessionRecord]:
        if self._call.message is None:
            yield made
        else:
            self._call.behind.append(made)

    def _message(self, message: JsonObject) -> Iterator[SessionRecord]:
        content = blocks_of(message.get("content"))
        if message.get("role") == "user":
            yield from self._apart(self.thread.message(self._at, "user", content))
            return
        kind = f"{NAME}.{text(message.get('role')) or 'message'}"
        yield from self._apart(
            self.thread.record(
                "custom_message", self._at, customType=kind, content=content, display=False
            )
        )

    def _event(self, record: JsonObject, event: JsonObject) -> Iterator[SessionRecord]:
        kind = event.get("type")
        if kind == "content.part":
            self._say(_part(obj(event.get("part"))))
        elif kind == "tool.call":
            call, name = text(event.get("toolCallId")), text(event.get("name"))
            self._tools[call] = name
            self._say(call_block(call, name, event.get("args")))
        elif kind == "tool.result":
            call = text(event.get("toolCallId"))
            result = obj(event.get("result"))
            name, is_error = self._tools.get(call, ""), result.get("isError") is True
            content = [text_block(_returned(event.get("result")))]
            yield from self._apart(self.thread.result(self._at, call, name, content, is_error))
        elif kind == "step.end":
            usage, stop = obj(event.get("usage")), text(event.get("finishReason"))
            self._call.tell(usage=_usage(usage), stopReason=STOP_REASONS.get(stop))
            yield from self._finish()
        else:
            if kind == "step.begin":
                yield from self._finish()
            yield from self._apart(self.thread.kept(self._at, f"{NAME}.{text(kind)}", record))

    def _say(self, block: JsonObject) -> None:
        if self._call.message is None:
            self._call.begin(
                self.thread.message(
                    self._at, "assistant", [], provider=self._provider, model=self._model
                )
            )
        self._call.blocks.append(block)

    def _compaction(self, record: JsonObject) -> Iterator[SessionRecord]:
        yield from self._finish()
        yield self.thread.compaction(
            self._at,
            text(record.get("contextSummary")) or text(record.get("summary")),
            tokensBefore=record.get("tokensBefore"),
            tokensAfter=record.get("tokensAfter"),
            details={k: record.get(k) for k in ("compactedCount", "keptUserMessageCount")},
        )


def _part(part: JsonObject) -> JsonObject:
    if part.get("type") == "think":
        return {"type": "thinking", "thinking": text(part.get("think"))}
    (block,) = blocks_of([part])
    return dict(block)


def _returned(result: object) -> str:
    """The texts of a result, whatever its fields are called."""
    if isinstance(result, str):
        return result
    return "\n".join(value for value in obj(result).values() if isinstance(value, str))


def _usage(usage: JsonObject) -> JsonObject:
    return {
        "input": usage.get("inputOther"),
        "output": usage.get("output"),
        "cacheRead": usage.get("inputCacheRead"),
        "cacheWrite": usage.get("inputCacheCreation"),
    }
