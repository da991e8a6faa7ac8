"""What the texts of a whole session hold: anchors, memory files written and read, summaries.

Built once, in file order, and continued as entries are added; entries never change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.retention.anchors import Anchor
from compaction_app.engine.retention.extract import Extractor, Message, calls_of
from compaction_app.engine.retention.failures import has_failed
from compaction_app.engine.retention.file_actions import (
    COMMAND_KEYS,
    PATH_KEYS,
    file_actions,
    first_of,
)
from compaction_app.engine.retention.keys import parts_of_path
from sessions_app.transcripts.measures import context_message
from sessions_app.transcripts.transcript import Entry

NOT_CONVERSATION: Final = frozenset(
    {"flush", "injected", "compact_command", "copy", "unknown_type"}
)
"""Marks of entries whose texts are no part of the conversation."""

_NO_NEW_TEXTS: Final = frozenset(
    {*PATH_KEYS, *COMMAND_KEYS, "oldText", "old_string", "old_str", "old", "search"}
)
_MEMORY_TOOLS: Final = frozenset({"memory_search", "memory_get"})


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """What a memory flush wrote to a file; ``entry`` is the result that says so."""

    entry: int
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryRead:
    """A file that was read, or a search of the memory: ``path`` is "" then."""

    entry: int
    path: str


class SessionIndex:
    """``anchors`` by the entry whose message tells of them, ``summaries`` by the entry of the compaction.

    ``open_writes`` are what calls of flushes write that have no result so far, by the call's id.
    """

    def __init__(self) -> None:
        self.seen = 0
        self.anchors: dict[int, list[Anchor]] = {}
        self.summaries: dict[int, str] = {}
        self.writes: list[MemoryWrite] = []
        self.reads: list[MemoryRead] = []
        self.extractor = Extractor()
        self.open_writes: dict[str, list[tuple[str, str]]] = {}

    @property
    def resolved(self) -> Mapping[int, int]:
        """For the entry of an error the entry in which the same call worked at last."""
        return self.extractor.resolved

    def add(self, entries: Iterable[Entry]) -> SessionIndex:
        """Read entries that follow those read before."""
        for entry in entries:
            self.seen = entry.seq + 1
            self._add(entry)
        return self

    def _add(self, entry: Entry) -> None:
        summary = entry.record.get("summary")
        if entry.type == "compaction":
            self.summaries[entry.seq] = summary if isinstance(summary, str) else ""
            return
        message = context_message(entry.type, entry.record)
        if entry.mark == "flush":
            self._flush(entry.seq, message)
        elif message and entry.mark not in NOT_CONVERSATION:
            self._note_reads(entry.seq, message)
            if found := self.extractor.add(entry.seq, message):
                self.anchors[entry.seq] = found

    def _flush(self, seq: int, message: Message) -> None:
        """A write counts when its result says that it worked."""
        for _, call in calls_of(message):
            given = call.get("arguments", call.get("input"))
            if isinstance(given, Mapping) and isinstance(call.get("id"), str):
                self.open_writes[call["id"]] = _written(str(call.get("name") or ""), given)
        if message.get("role") == "toolResult" and not has_failed(message):
            written = self.open_writes.pop(str(message.get("toolCallId")), [])
            self.writes += [MemoryWrite(seq, path, text) for path, text in written]

    def _note_reads(self, seq: int, message: Message) -> None:
        for _, call in calls_of(message):
            given, name = call.get("arguments", call.get("input")), str(call.get("name") or "")
            if name in _MEMORY_TOOLS:
                self.reads.append(MemoryRead(seq, ""))
            elif isinstance(given, Mapping):
                done = file_actions(name, given)
                self.reads += [MemoryRead(seq, path) for path, action in done if action == "read"]


def _written(name: str, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The files a call writes to, each with the texts it was given."""
    paths = [path for path, action in file_actions(name, given) if action in ("created", "changed")]
    command = first_of(given, COMMAND_KEYS)
    edits = given.get("edits")
    texts = [command] if command else []
    for some in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(some, Mapping):
            texts += [
                t for key, t in some.items() if key not in _NO_NEW_TEXTS and isinstance(t, str)
            ]
    return [(path, "\n".join(texts)) for path in paths]


def is_same_file(one: str, other: str) -> bool:
    """Whether one path is the end of the other."""
    mine, theirs = parts_of_path(one), parts_of_path(other)
    shared = min(len(mine), len(theirs))
    return shared > 0 and mine[-shared:] == theirs[-shared:]


def first_read(
    reads: Sequence[MemoryRead], written: Sequence[str], first: int, end: int
) -> int | None:
    """The first entry from ``first`` up to ``end`` that reads one of the files, or searches the memory."""
    for read in reads:
        if first <= read.entry < end and (
            not read.path or any(is_same_file(read.path, path) for path in written)
        ):
            return read.entry
    return None
