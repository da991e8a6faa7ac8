"""Codex's rollouts (``~/.codex/sessions/**/rollout-*.jsonl``).

``response_item`` lines are what the model was sent and answered; ``event_msg`` lines mostly say the same
for a screen, but for ``token_count``, which bills the call before it. ``compacted`` replaces the history: what it
put in its place follows as entries of the context.
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
    items,
    obj,
    text,
    text_block,
)
from sessions_app.transcripts.transcript import JsonObject

NAME: Final = "codex"
_TYPES: Final = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
)
_COUNTS: Final = (int, float)


def looks_like(record: JsonObject) -> bool:
    return text(record.get("type")) in _TYPES and isinstance(record.get("payload"), dict)


class Codex:
    """One rollout; a model call is held until its tokens are counted."""

    def __init__(self) -> None:
        self.thread = Thread("codex-")
        self._call = HeldCall()
        self._tools: dict[str, str] = {}
        self._model, self._provider = "", "openai"
        self._has_header = False
        self._at: object = None

    @property
    def holds(self) -> bool:
        return self._call.message is not None

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        payload, kind = obj(record.get("payload")), record.get("type")
        self._at = record.get("timestamp")
        if not self._has_header:
            self._has_header = True
            identity = text(payload.get("id")) or NAME
            self._provider = text(payload.get("model_provider")) or self._provider
            yield self.thread.header(identity, self._at, cwd=payload.get("cwd"))
        if kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg" and payload.get("type") == "token_count":
            yield from self._count(record, payload)
        elif kind == "turn_context" and text(payload.get("model")) not in ("", self._model):
            yield from self._finish()
            self._model = text(payload.get("model"))
            yield self.thread.record(
                "model_change", self._at, provider=self._provider, modelId=self._model
            )
        elif kind == "compacted":
            yield from self._compacted(payload)
        else:
            yield from self._apart(self._kept(record))

    def held(self) -> list[SessionRecord]:
        return self._call.copies()

    def _finish(self) -> Iterator[SessionRecord]:
        yield from self._call.release()

    def _apart(self, made: SessionRecord) -> Iterator[SessionRecord]:
        """A record that ends no call: behind the one that is held, if there is one."""
        if self._call.message is None:
            yield made
        else:
            self._call.behind.append(made)

    def _kept(self, record: JsonObject) -> SessionRecord:
        kinds = (NAME, text(record.get("type")), text(obj(record.get("payload")).get("type")))
        return self.thread.kept(self._at, ".".join(filter(None, kinds)), record)

    def _item(self, item: JsonObject) -> Iterator[SessionRecord]:
        kind, call = text(item.get("type")), text(item.get("call_id"))
        if kind == "message" and item.get("role") == "assistant":
            yield from self._say(blocks_of(item.get("content")))
        elif kind == "message":
            yield from self._finish()
            yield self._told(item)
        elif kind == "reasoning":
            parts = [text(obj(part).get("text")) for part in items(item.get("summary"))]
            yield from self._say([{"type": "thinking", "thinking": "\n".join(parts)}])
        elif call and kind.endswith("_call"):
            name = text(item.get("name")) or kind.removesuffix("_call")
            given: object = next(
                (item[k] for k in ("arguments", "input", "action") if k in item), {}
            )
            self._tools[call] = name
            yield from self._say([call_block(call, name, given)])
        elif call and kind.endswith("_output"):
            content = _output(item)
            is_error = text(item.get("status")) == "failed"
            yield from self._apart(
                self.thread.result(self._at, call, self._tools.get(call, ""), content, is_error)
            )
        else:
            yield from self._apart(self._kept({"type": "response_item", "payload": item}))

    def _say(self, blocks: list[JsonObject]) -> Iterator[SessionRecord]:
        """More of the model's answer. Behind a result or anything else another call has begun."""
        if self._call.message is None or self._call.behind:
            yield from self._finish()
            self._call.begin(
                self.thread.message(
                    self._at, "assistant", [], provider=self._provider, model=self._model
                )
            )
        self._call.blocks += blocks

    def _told(self, item: JsonObject) -> SessionRecord:
        """A message to the model: the user's, or what stands in the developer's name."""
        content = blocks_of(item.get("content"))
        if item.get("role") == "user":
            return self.thread.message(self._at, "user", content)
        kind = f"{NAME}.{text(item.get('role')) or 'message'}"
        return self.thread.record(
            "custom_message", self._at, customType=kind, content=content, display=False
        )

    def _count(self, record: JsonObject, payload: JsonObject) -> Iterator[SessionRecord]:
        last = obj(obj(payload.get("info")).get("last_token_usage"))
        usage = {name: last[name] for name in last if isinstance(last[name], _COUNTS)}
        if self._call.message is None or not usage:
            yield from self._apart(self._kept(record))
            return
        cached = usage.get("cached_input_tokens", 0)
        written = usage.get("cache_write_input_tokens", 0)
        self._call.tell(
            usage={
                "input": max(usage.get("input_tokens", 0) - cached - written, 0),
                "cacheRead": cached,
                "cacheWrite": written,
                "output": usage.get("output_tokens", 0),
            }
        )
        yield from self._finish()

    def _compacted(self, payload: JsonObject) -> Iterator[SessionRecord]:
        yield from self._finish()
        yield self.thread.compaction(self._at, text(payload.get("message")))
        for item in map(obj, items(payload.get("replacement_history"))):
            if item.get("type") == "message":
                kind = f"{NAME}.history.{text(item.get('role'))}"
                content = blocks_of(item.get("content"))
                yield self.thread.record(
                    "custom_message", self._at, customType=kind, content=content, display=False
                )


def _output(item: JsonObject) -> list[JsonObject]:
    """What a tool returned: a text, blocks, or one block."""
    output = item.get("output")
    if isinstance(output, dict):
        inner = output.get("content", output)
        return blocks_of(inner if isinstance(inner, str | list) else [inner])
    return blocks_of(output) if output is not None else [text_block("")]
