"""Records of other agents in the form that everything else here reads: one line of a session file each.

A translator takes a format's records one by one and gives session records, each with an id and a parent.
It never raises: what it does not know becomes a ``custom`` record that holds the original.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Protocol

from sessions_app.transcripts.json_lines import NotJson, parse_json
from sessions_app.transcripts.timestamps import LARGEST_MS, iso_text
from sessions_app.transcripts.transcript import JsonObject

SessionRecord = dict[str, Any]
"""A record as in a session file, and in ``line`` the line that it was made of."""


class Translator(Protocol):
    """Reads one file of another agent."""

    thread: Thread

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        """The session records that are settled once ``record`` is read; some may be held back."""

    def held(self) -> list[SessionRecord]:
        """Copies of what is held back, as it would be given if nothing more came."""

    @property
    def holds(self) -> bool:
        """Whether something is held back, so that the file is not settled up to here."""


class Thread:
    """Makes records that hang one below the other. ``prefix`` begins the ids it has to make up.

    ``line`` is the line that is being read; it stays with the records made of it.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix, self._count = prefix, 0
        self.line = 0
        self.head: str | None = None

    def header(self, identity: str, at: object, **fields: Any) -> SessionRecord:
        """The first record; ``at`` is a time as it was recorded."""
        return {
            "line": self.line,
            "type": "session",
            "version": 3,
            "id": identity,
            "timestamp": at,
            **fields,
        }

    def record(
        self, kind: str, at: object, *, identity: str = "", parent: str | None = None, **fields: Any
    ) -> SessionRecord:
        """One record below ``parent``, else below the one before; it becomes the head."""
        self._count += 1
        made = identity or f"{self._prefix}{self._count}"
        above = parent if parent is not None else self.head
        self.head = made
        place = {"line": self.line, "type": kind, "id": made, "parentId": above}
        return {**place, "timestamp": at, **fields}

    def message(
        self,
        at: object,
        role: str,
        content: Any,
        *,
        identity: str = "",
        parent: str | None = None,
        **more: Any,
    ) -> SessionRecord:
        """A message; ``more`` are further fields of it."""
        message = {"role": role, "content": content, **more}
        return self.record("message", at, identity=identity, parent=parent, message=message)

    def result(
        self, at: object, call: str, name: str, content: list[Any], is_error: bool, **place: Any
    ) -> SessionRecord:
        """What a tool returned."""
        more: dict[str, Any] = {
            "toolCallId": call,
            "toolName": name or "unknown",
            "isError": is_error,
        }
        return self.message(at, "toolResult", content, **more, **place)

    def kept(self, at: object, kind: str, original: JsonObject, **place: Any) -> SessionRecord:
        """A record that is no part of the conversation, as it was."""
        return self.record("custom", at, customType=kind, data=original, **place)

    def compaction(self, at: object, summary: str, **fields: Any) -> SessionRecord:
        """A compaction by the agent itself. It kept nothing unless ``firstKeptEntryId`` says so."""
        kept: dict[str, Any] = {} if fields.get("firstKeptEntryId") else {"firstKeptEntryIndex": 0}
        known: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
        return self.record("compaction", at, summary=summary, **kept, **known)


class HeldCall:
    """The parts of one model call, which these formats write one by one, and what came in between.

    The call is one message; the results that tools gave before it had ended stand behind it.
    """

    def __init__(self) -> None:
        self.message: SessionRecord | None = None
        self.blocks: list[Any] = []
        self.behind: list[SessionRecord] = []

    def begin(self, record: SessionRecord) -> None:
        """``record`` is a message whose content are the blocks to come."""
        self.message, self.blocks = record, record["message"]["content"]

    @property
    def message_id(self) -> str | None:
        return self.message["id"] if self.message is not None else None

    def tell(self, **fields: Any) -> None:
        """More about the message, such as its usage."""
        if self.message is not None:
            self.message["message"] |= {k: v for k, v in fields.items() if v is not None}

    def copies(self) -> list[SessionRecord]:
        """Everything, in order, as it is so far."""
        held = [self.message] if self.message is not None else []
        return deepcopy([*held, *self.behind])

    def release(self) -> Iterator[SessionRecord]:
        """Everything, in order; afterwards there is no call."""
        if self.message is not None:
            yield self.message
        yield from self.behind
        self.message, self.blocks, self.behind = None, [], []


def obj(value: object) -> JsonObject:
    """The object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The text, "" for anything else."""
    return value if isinstance(value, str) else ""


def text_block(value: str) -> JsonObject:
    return {"type": "text", "text": value}


def call_block(identity: object, name: object, arguments: object) -> JsonObject:
    """A tool call; arguments that are written as JSON are read."""
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except NotJson:
            arguments = {"input": arguments}
    given = arguments if isinstance(arguments, dict) else {"input": arguments}
    return {
        "type": "toolCall",
        "id": text(identity),
        "name": text(name) or "unknown",
        "arguments": given,
    }


def blocks_of(content: object) -> list[Any]:
    """Content of OpenAI's or Anthropic's form as blocks of text, images and thinking."""
    if isinstance(content, str):
        return [text_block(content)]
    return [_block(block) for block in items(content)]


def _block(block: object) -> JsonObject:
    if isinstance(block, str):
        return text_block(block)
    given = obj(block)
    kind = given.get("type")
    if isinstance(given.get("text"), str):
        return text_block(text(given["text"]))
    if kind in ("image", "image_url", "input_image"):
        return _image(given)
    if kind == "thinking":
        return {
            "type": "thinking",
            "thinking": text(given.get("thinking")),
            "thinkingSignature": text(given.get("signature")),
        }
    if kind == "tool_use":
        return call_block(given.get("id"), given.get("name"), given.get("input"))
    return dict(given)


def _image(block: JsonObject) -> JsonObject:
    source = obj(block.get("source"))
    url = block.get("image_url")
    data = text(source.get("data")) or text(url) or text(obj(url).get("url"))
    return {
        "type": "image",
        "data": data,
        "mimeType": text(source.get("media_type")) or "image/unknown",
    }


def iso(moment_ms: object) -> str | None:
    """Milliseconds since 1970 as records spell times; none for what is no time."""
    if isinstance(moment_ms, bool) or not isinstance(moment_ms, int | float):
        return None
    if not abs(moment_ms) < LARGEST_MS / 100:  # years that Python's dates can hold
        return None
    return iso_text(moment_ms)
