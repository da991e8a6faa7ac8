"""What happened, as values: a transcript, its entries, and what was wrong with the file.

A transcript is a tree of entries in file order; each entry names its parent, and the branch that is
shown ends at the last entry (spec budgets 7.4). Nothing here knows a file format: importers make
these values, the store keeps them, the timeline and the engine read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sessions_app.tokens import javascript as js

JsonObject = Mapping[str, Any]

Mark = Literal["", "flush", "injected", "copy", "compact_command", "unknown_type"]
"""Why an entry is no part of the conversation, "" when it is.

``flush`` the turn of a memory flush, ``injected`` a reply the gateway wrote itself, ``copy`` an entry
that a session rewrite appended again, ``compact_command`` a typed ``/compact``, ``unknown_type`` an
entry type no version knows (runs 3.3, 3.4, 3.12; spec budgets 7.4).
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """Damage found while reading: where, which kind, what it means and what was kept.

    ``line`` counts from 1, 0 is the file as a whole; ``kind`` is a stable code; ``raw`` holds bytes
    that could not become an entry, so that nothing is lost.
    """

    line: int
    kind: str
    message: str
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of a file. ``version`` is 1 when the file does not say; ``source`` names the
    program that wrote it."""

    id: str
    version: int
    timestamp_ms: int | None
    raw: bytes = b""
    source: str = "openclaw"


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a transcript after migration.

    ``seq`` counts the kept entries from 0 (the header is none), ``parent_seq`` and ``kept_seq`` (of a
    compaction: the first entry it kept) are such numbers; ``line`` counts from 1. ``record`` is the
    record as the current format spells it, ``raw`` the bytes it was read from; ``digest`` stands for
    its content, so that copies are known, and is empty where repetitions are honest.
    """

    seq: int
    line: int
    id: str
    parent_seq: int | None
    type: str
    timestamp_ms: int | None
    record: JsonObject
    raw: bytes
    mark: Mark = ""
    kept_seq: int | None = None
    digest: bytes = b""

    @property
    def message(self) -> JsonObject:
        """The message of a message entry, else an empty one."""
        message = self.record.get("message") if self.type == "message" else None
        return message if isinstance(message, js.OBJECT) else {}

    @property
    def role(self) -> str:
        role = self.message.get("role")
        return role if isinstance(role, str) else ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole file in memory: for single sessions; imports stream entries instead."""

    header: Header | None
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = field(default=())


def branch(parents: Sequence[int | None], leaf: int) -> list[int]:
    """The entry numbers from the root to ``leaf``.

    ``parents[seq]`` is always below ``seq`` (the reader sees to it), so the walk ends.
    """
    path: list[int] = []
    at: int | None = leaf
    while at is not None:
        path.append(at)
        at = parents[at]
    path.reverse()
    return path


def leaves(parents: Sequence[int | None]) -> list[int]:
    """The entry numbers that no entry names as parent: the end of each branch, in file order."""
    with_children = {parent for parent in parents if parent is not None}
    return [seq for seq in range(len(parents)) if seq not in with_children]
