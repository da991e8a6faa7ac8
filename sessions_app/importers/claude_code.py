"""Claude Code's session files (``~/.claude/projects/*/*.jsonl``).

A model call is written one line per content block, each with the usage of the whole call: lines of one
message id become one message. ``compact_boundary`` and the summary behind it become one compaction.
Sidechains (the work of subagents) that stand in their parent's file are threads of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sessions_app.importers.translation import (
    HeldCall,
    SessionRecord,
    Thread,
    blocks_of,
    items,
    obj,
    text,
)
from sessions_app.transcripts.transcript import JsonObject

NAME: Final = "claude-code"
STOP_REASONS: Final = {"tool_use": "toolUse", "end_turn": "stop", "max_tokens": "length"}
_TYPES: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})


def looks_like(record: JsonObject) -> bool:
    """A line with a session's and its own id, or one of the lines that may stand before those."""
    kind = record.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        return isinstance(record.get("uuid"), str) and "parentUuid" in record
    if kind == "summary":
        return isinstance(record.get("leafUuid"), str)
    return kind == "file-history-snapshot" and "snapshot" in record


class ClaudeCode:
    """``thread`` is the root of the sidechain that is wanted, "" for the session itself."""

    def __init__(self, thread: str = "") -> None:
        self._wanted = thread
        self._sides: dict[str, str] = {}
        self._is_subagent: bool | None = None
        self.thread = Thread("claude-")
        self._has_header = False
        self._stands: dict[str, str] = {}
        self._last = ""
        self._tools: dict[str, str] = {}
        self._billed: set[str] = set()
        self._call, self._call_id = HeldCall(), ""
        self._boundary: JsonObject | None = None

    @property
    def sidechains(self) -> tuple[str, ...]:
        """The roots of the sidechains that were met, in order."""
        return tuple(dict.fromkeys(self._sides.values()))

    @property
    def holds(self) -> bool:
        return self._call.message is not None or self._boundary is not None

    def translate(self, record: JsonObject) -> Iterator[SessionRecord]:
        if self._thread_of(record) != self._wanted:
            return
        if not self._has_header:
            self._has_header = True
            identity = self._wanted or text(record.get("sessionId")) or NAME
            yield self.thread.header(identity, record.get("timestamp"), cwd=record.get("cwd"))
        message, kind = obj(record.get("message")), record.get("type")
        if kind == "assistant" and message:
            yield from self._assistant(record, message)
        elif kind == "user" and record.get("isCompactSummary") is True:
            yield from self._call_ended()
            yield self._compaction(record, text_of(message))
        elif kind == "user" and message:
            yield from self._user(record, message)
        else:
            yield from self._finish()
            if kind == "system" and record.get("subtype") == "compact_boundary":
                self._boundary = record
            else:
                yield self._other(record)

    def held(self) -> list[SessionRecord]:
        """A boundary waits for its summary, which is written with it."""
        return self._call.copies()

    def _finish(self) -> Iterator[SessionRecord]:
        yield from self._call_ended()
        if self._boundary is not None:
            yield self._compaction(self._boundary, "")

    def _call_ended(self) -> Iterator[SessionRecord]:
        yield from self._call.release()
        self._call_id = ""

    def _thread_of(self, record: JsonObject) -> str:
        """The root of the sidechain a line belongs to, "" for the session. A file that begins with a
        sidechain is the file of a subagent, and one thread."""
        if self._is_subagent is None and record.get("type") in ("user", "assistant"):
            self._is_subagent = record.get("isSidechain") is True
        if self._is_subagent is not False or record.get("isSidechain") is not True:
            return ""
        identity, parent = text(record.get("uuid")), text(record.get("parentUuid"))
        root = text(record.get("agentId")) or self._sides.get(parent) or identity
        if identity:
            self._sides[identity] = root
        return root

    def _place(self, record: JsonObject) -> dict[str, Any]:
        """The id of a line's first record and what that hangs from, where they are known."""
        above = text(record.get("parentUuid")) or text(record.get("logicalParentUuid"))
        identity = text(record.get("uuid"))
        return {
            "parent": self._stands.get(above),
            "identity": "" if identity in self._stands else identity,
        }

    def _stand(self, record: JsonObject, made: SessionRecord) -> SessionRecord:
        """Who names the line means this record. One without an id comes between the line before it and
        whatever names that."""
        identity = text(record.get("uuid"))
        if identity:
            self._stands[identity], self._last = made["id"], identity
        elif self._last and self._stands[self._last] == made["parentId"]:
            self._stands[self._last] = made["id"]
        return made

    def _assistant(self, record: JsonObject, message: JsonObject) -> Iterator[SessionRecord]:
        identity = text(message.get("id"))
        if not identity or identity != self._call_id:
            yield from self._finish()
            made = self.thread.message(
                record.get("timestamp"),
                "assistant",
                [],
                provider="anthropic",
                model=text(message.get("model")),
                **self._place(record),
            )
            self._call.begin(made)
            self._call_id = identity
        if self._call.message is not None:
            self._stand(record, self._call.message)
        blocks = blocks_of(message.get("content"))
        self._call.blocks += blocks
        self._tools |= {b["id"]: b["name"] for b in blocks if b.get("type") == "toolCall"}
        failed = record.get("isApiErrorMessage") is True
        self._call.tell(
            stopReason="error" if failed else STOP_REASONS.get(text(message.get("stop_reason"))),
            errorMessage=text_of(message) if failed else None,
        )
        self._bill(identity, message.get("usage"))

    def _bill(self, identity: str, usage: object) -> None:
        """Every line of a call repeats the usage; the last says most."""
        is_new = self._call.message is not None and "usage" not in self._call.message["message"]
        if not (identity and is_new and identity in self._billed):
            self._call.tell(usage=usage)
        self._billed.add(identity)

    def _user(self, record: JsonObject, message: JsonObject) -> Iterator[SessionRecord]:
        """What tools returned, each result an entry of its own, then what the user says."""
        content = message.get("content")
        results = [obj(b) for b in items(content) if obj(b).get("type") == "tool_result"]
        said = [b for b in items(content) if obj(b).get("type") != "tool_result"]
        place = self._place(record)
        if not results or said or self._call.message is None:
            yield from self._finish()
        for block in results:
            if self._call.behind and place["parent"] == self._call.message_id:
                place["parent"] = self._call.behind[-1]["id"]  # beside another result of the call
            made = self._result(record, block, place)
            place = {"parent": made["id"], "identity": ""}
            if self._call.message is None:
                yield made
            else:
                self._call.behind.append(made)
        if said or not results:
            told = content if isinstance(content, str) else blocks_of(said)
            at = record.get("timestamp")
            yield self._stand(record, self.thread.message(at, "user", told, **place))

    def _result(
        self, record: JsonObject, block: JsonObject, place: dict[str, Any]
    ) -> SessionRecord:
        call = text(block.get("tool_use_id")) or text(record.get("sourceToolUseID"))
        made = self.thread.result(
            record.get("timestamp"),
            call,
            self._tools.get(call, ""),
            blocks_of(block.get("content")),
            block.get("is_error") is True,
            **place,
        )
        return self._stand(record, made)

    def _compaction(self, record: JsonObject, summary: str) -> SessionRecord:
        boundary, self._boundary = self._boundary or record, None
        told = obj(boundary.get("compactMetadata"))
        kept = self._stands.get(text(obj(told.get("preservedSegment")).get("headUuid")))
        made = self.thread.compaction(
            record.get("timestamp"),
            summary,
            tokensBefore=told.get("preTokens"),
            tokensAfter=told.get("postTokens"),
            firstKeptEntryId=kept,
            details={"trigger": told.get("trigger")},
            **self._place(boundary),
        )
        self._stand(boundary, made)
        return self._stand(record, made)

    def _other(self, record: JsonObject) -> SessionRecord:
        kind = ".".join(filter(None, (NAME, text(record.get("type")), text(record.get("subtype")))))
        made = self.thread.kept(record.get("timestamp"), kind, record, **self._place(record))
        return self._stand(record, made)


def text_of(message: JsonObject) -> str:
    """All text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text(obj(block).get("text")) for block in items(content)).strip("\n")
