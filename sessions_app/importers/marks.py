"""What tells entries that are no part of the conversation from those that are.

The turn of a memory flush and a typed ``/compact`` show in the user's text; an entry that a session
rewrite appended again shows in its content, which stays the same under a new id (runs 3.3, 3.12).
"""

from __future__ import annotations

import hashlib

import orjson

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.transcript import JsonObject, Mark

FLUSH_USER_TEXT = "Continue the OpenClaw runtime event."
"""The user message of a memory-flush turn (runs 3.3)."""

FLUSH_PROMPT_START = "Pre-compaction memory flush."
"""How it begins where the flush prompt itself is the user message (runs 4, spec budgets 5.1)."""


def type_of(record: JsonObject) -> str:
    """The type of an entry, "" where it is none."""
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def message_of(record: JsonObject) -> JsonObject:
    """The message of a message entry, else an empty one."""
    message = record.get("message") if record.get("type") == "message" else None
    return message if isinstance(message, dict) else {}


def turn_mark(message: JsonObject) -> Mark:
    """What a user message makes of its turn: a memory flush, a typed ``/compact``, or neither."""
    text = first_text(message)
    if text == FLUSH_USER_TEXT or text.startswith(FLUSH_PROMPT_START):
        return "flush"
    command = js.trim(text[:32])
    return "compact_command" if command == "/compact" or command.startswith("/compact ") else ""


def content_digest(record: JsonObject) -> bytes:
    """What a rewrite keeps of an entry when it appends it again under a new id (runs 3.12).

    A tool result may have been cut on the way, so its call stands for its content. Messages without
    a time of their own could be honest repetitions and have no digest.
    """
    message = message_of(record)
    if record.get("type") == "compaction":
        parts: tuple[object, ...] = (record.get("summary"), record.get("tokensBefore"))
    elif js.is_number(message.get("timestamp")):
        content = message.get("content") if message.get("role") != "toolResult" else None
        parts = (message.get("role"), message["timestamp"], message.get("toolCallId"), content)
    else:
        return b""
    return hashlib.blake2b(text, digest_size=12).digest() if (text := _written(parts)) else b""


def _written(parts: tuple[object, ...]) -> bytes:
    """The parts as bytes, the same for the same parts; none where they are nested too deeply."""
    try:
        return orjson.dumps(parts)
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        pass
    try:
        return repr(parts).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b""


def first_text(message: JsonObject) -> str:
    """The text of a message, or of its first text block; "" without one."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])
    return ""
