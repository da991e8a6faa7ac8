"""Transcripts for tests: records with predictable ids, and the bytes of a file made of them."""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]

FIRST_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
NO_USAGE: Json = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}


def iso(second: int) -> str:
    return f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def header(version: int | None = 3, identity: str = "the-session") -> Json:
    record: Json = {"type": "session", "id": identity, "timestamp": iso(0), "cwd": "/w"}
    return record if version is None else {"type": "session", "version": version, **record}


def usage(prompt: int, output: int, cache_read: int = 0, cache_write: int = 0) -> Json:
    """A usage block; ``prompt`` is all of the prompt, of which parts may come from the cache."""
    fresh = prompt - cache_read - cache_write
    return {
        "input": fresh,
        "output": output,
        "cacheRead": cache_read,
        "cacheWrite": cache_write,
        "totalTokens": prompt + output,
    }


class Chain:
    """Entries that hang one below the other: ``e1``, ``e2``, ... one second apart.

    Every method returns the id of the entry it has added; ``below`` hangs it elsewhere.
    """

    def __init__(self, version: int | None = 3, identity: str = "the-session") -> None:
        self.records: list[Json] = [header(version, identity)]
        self.leaf: str | None = None

    def add(self, kind: str, below: str | None = "leaf", **fields: Any) -> str:
        number = len(self.records)
        identity = f"e{number}"
        self.records.append(
            {
                "type": kind,
                "id": identity,
                "parentId": self.leaf if below == "leaf" else below,
                "timestamp": iso(number),
                **fields,
            }
        )
        self.leaf = identity
        return identity

    def message(self, role: str, below: str | None = "leaf", **fields: Any) -> str:
        at = FIRST_MS + 1000 * len(self.records)
        return self.add("message", below, message={"role": role, "timestamp": at, **fields})

    def user(self, text: str = "Hi", below: str | None = "leaf") -> str:
        return self.message("user", below, content=[{"type": "text", "text": text}])

    def assistant(
        self,
        text: str = "Yes",
        used: Json | None = None,
        calls: tuple[str, ...] = (),
        **fields: Any,
    ) -> str:
        content: list[Json] = [{"type": "text", "text": text}]
        content += [{"type": "toolCall", "id": c, "name": "read", "arguments": {}} for c in calls]
        named = {"provider": "anthropic", "model": "claude-opus-4-5", "stopReason": "stop"}
        return self.message(
            "assistant", content=content, usage=used or NO_USAGE, **{**named, **fields}
        )

    def result(self, call: str, text: str = "done", below: str | None = "leaf") -> str:
        content = [{"type": "text", "text": text}]
        return self.message(
            "toolResult", below, toolCallId=call, toolName="read", isError=False, content=content
        )

    def compaction(self, kept: str, summary: str = "So far", before: int = 900) -> str:
        return self.add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=before)

    def data(self) -> bytes:
        return jsonl(*self.records)


def jsonl(*records: Json) -> bytes:
    """The bytes of a file: one record a line, as the runtime writes it."""
    return b"".join(line(record) + b"\n" for record in records)


def line(record: Any) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def short_session(identity: str = "the-session", turns: int = 2) -> Chain:
    """A session of some billed turns, each with one tool call."""
    chain = Chain(identity=identity)
    for turn in range(turns):
        chain.user(f"Question {turn}")
        call = f"call-{turn}"
        chain.assistant("Looking", usage(1000 + 100 * turn, 20), calls=(call,))
        chain.result(call, "A file. " * 20)
        chain.assistant("Found it", usage(1050 + 100 * turn, 30))
    return chain
