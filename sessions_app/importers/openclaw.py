"""OpenClaw v3 and pi v1, v2, v3 session files (``.jsonl``).

Old versions are migrated here, at the door (spec budgets 7.4): v1 entries get an id and the entry
before them as parent, and a compaction's ``firstKeptEntryIndex`` becomes the entry it names; in v2
the role ``hookMessage`` becomes ``custom``. Unknown entry types are kept. Whatever is wrong becomes a
problem; no line loses the file.

A reader keeps what it must know of the lines before (ids, open calls), so that a file that has grown
can be read on from where the last import ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions_app.importers.answers import name_of, orphans, second_bootstrap
from sessions_app.importers.marks import content_digest, message_of, turn_mark, type_of
from sessions_app.importers.records import Record
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Entry, Header, JsonObject, Mark, Problem

ENTRY_TYPES = frozenset(
    {
        "message", "compaction", "branch_summary", "custom", "custom_message", "label", "model_change",
        "thinking_level_change", "session_info", "leaf", "reset",
    }
)  # fmt: skip
"""The entry types the runtime knows (spec budgets 7.4; ``leaf`` and ``reset`` from newer stores)."""


FIRST_LINES = 20
"""How many lines may pass before a file must have shown what it is."""


@dataclass(slots=True)
class ReaderState:
    """What the reader knows of the entries before: enough to read on in a grown file.

    ``parents`` begins with the entry ``first_seq``. A reader that only continues the last entry knows
    no others but those that are named: what hangs one below the other holds no copies.
    """

    header: Header | None = None
    next_seq: int = 0
    first_seq: int = 0
    seq_of_id: dict[str, int] = field(default_factory=dict)
    seq_of_index: list[int | None] = field(default_factory=lambda: [None])
    parents: list[int | None] = field(default_factory=list)
    call_ids: set[str] = field(default_factory=set)
    open_calls: dict[str, int] = field(default_factory=dict)
    is_bootstrapped: bool = False
    seq_of_content: dict[bytes, int] = field(default_factory=dict)
    copies: set[int] = field(default_factory=set)
    last_user_seq: int = -1
    turn_mark: Mark = ""


def looks_like(record: Mapping[str, Any]) -> bool:
    """Whether a record could stand in such a file: a header, or an entry of a known form."""
    kind = record.get("type")
    if kind == "session":
        return isinstance(record.get("id"), str) and record.get("version", 1) in (1, 2, 3)
    if kind == "message":
        message = record.get("message")
        return (
            isinstance(message, dict)
            and isinstance(message.get("role"), str)
            and not {"sessionId", "uuid"} & record.keys()
        )
    return type_of(record) in ENTRY_TYPES and ("parentId" in record or kind == "compaction")


class Reader:
    """Turns records into entries; ``state`` may come from an earlier import of the same file."""

    def __init__(self, state: ReaderState | None = None) -> None:
        self.state = state or ReaderState()

    def read(self, records: Iterable[Record | Problem]) -> Iterator[Header | Entry | Problem]:
        """Entries and problems in file order; the header first where there is one."""
        for item in records:
            if isinstance(item, Problem):
                yield item
            elif item.value.get("type") == "session":
                yield from self._header(item)
            else:
                yield from self._entry(item)

    def _header(self, item: Record) -> Iterator[Header | Problem]:
        if self.state.header is not None or self.state.next_seq:
            yield self._second_header(item)
            return
        version = item.value.get("version", 1)
        identity = item.value.get("id")
        if not isinstance(identity, str) or not identity:
            yield Problem(item.line, "FILE_NO_HEADER", "The session header has no id.", item.raw)
            identity = ""
        self.state.header = Header(
            id=name_of(identity) if identity else "",
            version=int(version) if version in (1, 2, 3) else 3,
            timestamp_ms=epoch_ms(item.value.get("timestamp")),
            raw=item.raw,
        )
        yield self.state.header

    def _second_header(self, item: Record) -> Problem:
        first, identity = self.state.header, item.value.get("id")
        if first is not None and isinstance(identity, str) and name_of(identity) == first.id:
            message = (
                "The session begins a second time on this line; its entries were kept once each."
            )
            return Problem(item.line, "FILE_DUPLICATE_BOOTSTRAP", message, item.raw)
        message = "A second session header; what follows was read as the same session."
        return Problem(item.line, "FILE_SECOND_HEADER", message, item.raw)

    def _entry(self, item: Record) -> Iterator[Entry | Problem]:
        state = self.state
        if state.header is None and state.next_seq == 0:
            yield Problem(
                item.line,
                "FILE_NO_HEADER",
                "The file does not begin with a session header; the runtime would take it for empty. "
                "Its entries were kept.",
            )
        seq = state.next_seq
        is_v1 = state.header is not None and state.header.version == 1
        record = migrate(item.value, state.header.version if state.header else 3)
        identity, fault = self._identity(item, record, seq, is_v1)
        if fault:
            yield fault
        parent_seq, fault = self._parent(item, record, seq, is_v1)
        if fault:
            yield fault
        kept_seq, fault = self._kept(item, record, seq)
        if fault:
            yield fault
        digest = content_digest(record)
        entry = Entry(
            seq=seq,
            line=item.line,
            id=identity,
            parent_seq=parent_seq,
            type=type_of(record),
            timestamp_ms=epoch_ms(record.get("timestamp")),
            record=record,
            raw=item.raw,
            kept_seq=kept_seq,
            digest=digest,
            mark=self._mark(record, digest, seq, parent_seq),
        )
        yield from orphans(state, entry)
        yield from second_bootstrap(state, entry)
        state.next_seq += 1
        state.parents.append(parent_seq)
        state.seq_of_id[identity] = seq
        state.seq_of_index.append(seq)
        yield entry

    def _identity(
        self, item: Record, record: JsonObject, seq: int, is_v1: bool
    ) -> tuple[str, Problem | None]:
        """The entry's id; v1 has none, so the place in the file names it, the same every time."""
        given = record.get("id")
        if not isinstance(given, str) or not given:
            problem = (
                None if is_v1 else Problem(item.line, "FILE_MISSING_ID", "The entry has no id.")
            )
            return f"{seq:08x}", problem
        identity = name_of(given)
        if identity in self.state.seq_of_id:
            return identity, Problem(
                item.line,
                "FILE_DUPLICATE_ID",
                f"The id {identity!r} stands on an earlier line too. Both entries were kept; later "
                "ones that name it mean this one, as in the runtime.",
            )
        return identity, None

    def _parent(
        self, item: Record, record: JsonObject, seq: int, is_v1: bool
    ) -> tuple[int | None, Problem | None]:
        before = seq - 1 if seq else None
        if is_v1:
            return before, None
        parent = record.get("parentId")
        header = self.state.header
        if parent is None:
            return None, None
        name = name_of(parent) if isinstance(parent, str) else ""
        if header is not None and name == header.id:
            return None, None
        if name in self.state.seq_of_id:
            return self.state.seq_of_id[name], None
        return before, Problem(
            item.line,
            "FILE_BROKEN_PARENT",
            f"The parent {parent!r} is not in the file; the entry was joined to the one before it. "
            "The runtime would see nothing older than this entry.",
        )

    def _kept(
        self, item: Record, record: JsonObject, seq: int
    ) -> tuple[int | None, Problem | None]:
        """The number of a compaction's first kept entry; none when it kept nothing."""
        if record.get("type") != "compaction":
            return None, None
        index, named = record.get("firstKeptEntryIndex"), record.get("firstKeptEntryId")
        if js.is_finite(index) and named is None:
            # v1 counts the header as 0; an index that points at or behind the compaction kept nothing.
            known = self.state.seq_of_index
            place = int(index)
            return (known[place] if 0 <= place < len(known) else None), None
        if isinstance(named, str) and name_of(named) in self.state.seq_of_id:
            return self.state.seq_of_id[name_of(named)], None
        return None, Problem(
            item.line,
            "FILE_BROKEN_PARENT",
            f"The compaction keeps from {named!r}, which is not in the file: it kept nothing.",
        )

    def _mark(self, record: JsonObject, digest: bytes, seq: int, parent_seq: int | None) -> Mark:
        """Why the entry is no part of the conversation; a turn's mark holds until the next user."""
        if type_of(record) not in ENTRY_TYPES:
            return "unknown_type"
        message = message_of(record)
        if message.get("role") == "user":
            self.state.turn_mark = turn_mark(message)
            self.state.last_user_seq = seq
        if digest and self._is_copy(record, digest, seq, parent_seq):
            return "copy"
        if message.get("provider") == "openclaw" and message.get("role") == "assistant":
            return "injected"
        return self.state.turn_mark if message else ""

    def _is_copy(self, record: JsonObject, digest: bytes, seq: int, parent_seq: int | None) -> bool:
        """Whether a session rewrite appended the entry again under a new id.

        The old one then stands on another branch; the same content further up on the same branch is
        an honest repetition, except for a compaction that no user message parts from the first.
        """
        state = self.state
        original = state.seq_of_content.setdefault(digest, seq)
        if original == seq:
            return False
        at = parent_seq
        while at is not None and at > original and at not in state.copies:
            at = state.parents[at - state.first_seq]
        appended_again = record.get("type") == "compaction" and original > state.last_user_seq
        if at == original and not appended_again:
            state.seq_of_content[digest] = seq
            return False
        state.copies.add(seq)
        return True


def migrate(record: dict[str, Any], version: int) -> JsonObject:
    """A record of an older version as version 3 spells it; newer ones are returned as they are."""
    message = record.get("message")
    if version < 3 and isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**record, "message": {**message, "role": "custom"}}
    return record
