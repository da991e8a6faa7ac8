"""Which entry hangs from which: identities, parents, and what a compaction kept (spec budgets 7.4).

An entry is *linked* once its place in the tree is known; what it means and weighs is asked later. Old
versions are migrated here: v1 entries get an id and the entry before them as parent, and a compaction's
``firstKeptEntryIndex`` becomes the entry it names; in v2 the role ``hookMessage`` becomes ``custom``.
Whatever is wrong becomes a problem; no line loses the file.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from operator import lt
from typing import Any, NamedTuple

from sessions_app.importers.records import Record
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Header, JsonObject, Problem

LONGEST_ID = 128
"""Longer ids are known by their digest."""


VERSIONS = (1, 2, 3, 4)
"""Versions of session files. The fourth (SQLite stores) spells its records as the third."""

_PI_HEADER = frozenset({"provider", "modelId", "thinkingLevel", "branchedFrom", "parentSession"})
"""Fields of a header that pi writes and OpenClaw does not."""


class Linked(NamedTuple):
    """A record in its place: numbers as in ``Entry``, ``record`` as the current version spells it."""

    seq: int
    line: int
    id: str
    parent_seq: int | None
    kept_seq: int | None
    record: JsonObject
    raw: bytes


_linked = partial(tuple.__new__, Linked)
"""``Linked._make`` without its check of the length, which takes longer than all the rest of it."""


@dataclass(slots=True)
class Links:
    """What is known of the entries before: enough to find the parent of the next.

    ``parents`` holds the parent of every entry from number ``first_seq`` on, ``seq_of_id`` the last entry
    of each id; ``source`` is the format the records come from, where that is known. Who only continues the last entry need know no others but those that are named: what
    hangs one below the other holds no copies.
    """

    header: Header | None = None
    first_seq: int = 0
    source: str = ""
    seq_of_id: dict[str, int] = field(default_factory=dict)
    parents: list[int | None] = field(default_factory=list)

    @property
    def next_seq(self) -> int:
        return self.first_seq + len(self.parents)

    def parent_of(self, seq: int) -> int | None:
        return self.parents[seq - self.first_seq]

    @property
    def version(self) -> int:
        """The version of the file; without a header the current one."""
        return self.header.version if self.header else 3

    def forget(self, ids: Sequence[str]) -> None:
        """Take back the last entries; these were their ids."""
        del self.parents[len(self.parents) - len(ids) :]
        for identity in ids:
            self.seq_of_id.pop(identity, None)

    def link(self, item: Record) -> Iterator[Header | Linked | Problem]:
        """The entry of a record with what is wrong with its links, or the header."""
        if item.value.get("type") == "session":
            yield from self._header(item)
            return
        if self.header is None and self.next_seq == 0:
            yield Problem(
                item.line,
                "FILE_NO_HEADER",
                "The file does not begin with a session header; the runtime would take it for empty. "
                "Its entries were kept.",
            )
        record = migrate(item.value, self.version)
        identity, bad_id = self._identity(item.line, record)
        parent_seq, bad_parent = self._parent(item.line, record)
        kept_seq, bad_kept = self._kept(item.line, record, self.next_seq)
        yield from (fault for fault in (bad_id, bad_parent, bad_kept) if fault)
        seq = self.next_seq
        self.parents.append(parent_seq)
        self.seq_of_id[identity] = seq
        yield Linked(seq, item.line, identity, parent_seq, kept_seq, record, item.raw)

    def link_all(
        self, line: int, values: Sequence[JsonObject], raws: Sequence[bytes]
    ) -> list[Linked] | None:
        """The entries of records that follow each other from a line on, each with new id and known parent.

        None, and nothing remembered, when one of them needs to be looked at alone. Each step is taken
        for all records at once: this is what the speed of reading rests on.
        """
        seqs = range(self.next_seq, self.next_seq + len(values))
        types = [value.get("type") for value in values]
        ids: list[Any] = [value.get("id") for value in values]
        if self.header is None or not _are_texts(types) or "session" in types:
            return None
        if self.version == 1 and not any(ids):
            ids = [f"{seq:08x}" for seq in seqs]
        if not (_are_texts(ids) and self._are_new_names(ids)):
            return None
        self.seq_of_id.update(zip(ids, seqs, strict=True))
        parents = self._parents(values, seqs)
        kept = self._kept_of_all(types, values, seqs)
        if parents is None or kept is None:
            deque(map(self.seq_of_id.pop, ids), maxlen=0)
            return None
        self.parents += parents
        if self.version < 3:
            values = [migrate(value, self.version) for value in values]
        columns = zip(seqs, count(line), ids, parents, kept, values, raws)
        return list(map(_linked, columns))

    def _are_new_names(self, ids: list[str]) -> bool:
        """Whether all are fit to be kept as they are, and none was seen before."""
        return (
            all(ids)
            and max(map(len, ids)) <= LONGEST_ID
            and "".join(ids).isprintable()
            and len(set(ids)) == len(ids)
            and self.seq_of_id.keys().isdisjoint(ids)
        )

    def _parents(self, values: Sequence[JsonObject], seqs: range) -> list[int | None] | None:
        """The numbers of the parents, none for a root; None where one is not to be found above."""
        if self.version == 1:
            return [seq - 1 if seq else None for seq in seqs]
        names: list[Any] = [value.get("parentId") for value in values]
        try:
            found: list[int | None] = list(map(self.seq_of_id.get, names))
        except TypeError:
            return None
        above = [-1 if seq is None else seq for seq in found]
        are_known = found.count(None) == names.count(None)
        return found if are_known and all(map(lt, above, seqs)) else None

    def _kept_of_all(
        self, types: Sequence[Any], values: Sequence[JsonObject], seqs: range
    ) -> list[int | None] | None:
        """What the compactions among the records kept; None where one names what is not there."""
        kept: list[int | None] = [None] * len(seqs)
        for at in [at for at, kind in enumerate(types) if kind == "compaction"]:
            kept[at], fault = self._kept(0, values[at], seqs[at])
            if fault:
                return None
        return kept

    def _header(self, item: Record) -> Iterator[Header | Problem]:
        if self.header is not None or self.next_seq:
            yield self._second_header(item)
            return
        version = item.value.get("version", 1)
        identity = item.value.get("id")
        if not isinstance(identity, str) or not identity:
            yield Problem(item.line, "FILE_NO_HEADER", "The session header has no id.", item.raw)
            identity = ""
        self.header = Header(
            id=name_of(identity) if identity else "",
            version=int(version) if version in VERSIONS else 3,
            source=self.source or _source(item.value),
            timestamp_ms=epoch_ms(item.value.get("timestamp")),
            raw=item.raw,
        )
        yield self.header

    def _second_header(self, item: Record) -> Problem:
        first, identity = self.header, item.value.get("id")
        if first is not None and isinstance(identity, str) and name_of(identity) == first.id:
            message = (
                "The session begins a second time on this line; its entries were kept once each."
            )
            return Problem(item.line, "FILE_DUPLICATE_BOOTSTRAP", message, item.raw)
        message = "A second session header; what follows was read as the same session."
        return Problem(item.line, "FILE_SECOND_HEADER", message, item.raw)

    def _identity(self, line: int, record: JsonObject) -> tuple[str, Problem | None]:
        """The entry's id; v1 has none, so the place in the file names it, the same every time."""
        given = record.get("id")
        if not isinstance(given, str) or not given:
            problem = (
                None
                if self.header is not None and self.version == 1
                else Problem(line, "FILE_MISSING_ID", "The entry has no id.")
            )
            return f"{self.next_seq:08x}", problem
        identity = name_of(given)
        if identity in self.seq_of_id:
            return identity, Problem(
                line,
                "FILE_DUPLICATE_ID",
                f"The id {identity!r} stands on an earlier line too. Both entries were kept; later "
                "ones that name it mean this one, as in the runtime.",
            )
        return identity, None

    def _parent(self, line: int, record: JsonObject) -> tuple[int | None, Problem | None]:
        before = self.next_seq - 1 if self.next_seq else None
        if self.header is not None and self.version == 1:
            return before, None
        parent = record.get("parentId")
        if parent is None:
            return None, None
        name = name_of(parent) if isinstance(parent, str) else ""
        if self.header is not None and name == self.header.id:
            return None, None
        if name in self.seq_of_id:
            return self.seq_of_id[name], None
        return before, Problem(
            line,
            "FILE_BROKEN_PARENT",
            f"The parent {parent!r} is not in the file; the entry was joined to the one before it. "
            "The runtime would see nothing older than this entry.",
        )

    def _kept(self, line: int, record: JsonObject, seq: int) -> tuple[int | None, Problem | None]:
        """The number of a compaction's first kept entry; none when it kept nothing."""
        if record.get("type") != "compaction":
            return None, None
        index, named = record.get("firstKeptEntryIndex"), record.get("firstKeptEntryId")
        if js.is_finite(index) and named is None:
            # v1 counts the header as 0; an index that points at or behind the compaction kept nothing.
            place = int(index) - 1
            return (place if 0 <= place < seq else None), None
        kept = self.seq_of_id.get(name_of(named)) if isinstance(named, str) else None
        if kept is not None and kept < seq:
            return kept, None
        return None, Problem(
            line,
            "FILE_BROKEN_PARENT",
            f"The compaction keeps from {named!r}, which is not in the file: it kept nothing.",
        )


def _source(header: JsonObject) -> str:
    """Who wrote the file: pi alone wrote the old versions, and says more in its header."""
    is_old = header.get("version", 1) in (1, 2)
    return "pi" if is_old or _PI_HEADER & header.keys() else "openclaw"


def _are_texts(values: list[Any]) -> bool:
    return set(map(type, values)) == {str}


def name_of(identity: str) -> str:
    """The id as it is kept: itself, or its digest where it is too long or odd for a column."""
    if 0 < len(identity) <= LONGEST_ID and identity.isprintable():
        return identity
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def migrate(record: JsonObject, version: int) -> JsonObject:
    """A record of an older version as version 3 spells it; newer ones are returned as they are."""
    message = record.get("message")
    if version < 3 and isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**record, "message": {**message, "role": "custom"}}
    return record
