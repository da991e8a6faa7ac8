"""OpenClaw v3 and pi v1, v2, v3 session files (``.jsonl``).

Their entries are linked first (``sessions_app.importers.links``); here it is told what each of them is.
Unknown entry types are kept.

A reader keeps what it must know of the lines before (ids, open calls), so that a file that has grown
can be read on from where the last import ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sessions_app.importers.answers import orphans, second_bootstrap
from sessions_app.importers.links import VERSIONS, Linked, Links
from sessions_app.importers.marks import content_digest, message_of, turn_mark, type_of
from sessions_app.importers.records import Record
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Entry, Header, JsonObject, Mark, Problem

ENTRY_TYPES = frozenset(
    {
        "message", "compaction", "branch_summary", "custom", "custom_message", "label", "model_change",
        "thinking_level_change", "session_info", "leaf", "reset",
    }
)  # fmt: skip
"""The entry types the runtime knows (spec budgets 7.4; ``leaf`` and ``reset`` from newer stores)."""


class Turn(NamedTuple):
    """What of a reader's state belongs to the turn that is going on."""

    open_calls: dict[str, int]
    is_bootstrapped: bool
    last_user_seq: int
    turn_mark: Mark


@dataclass(slots=True)
class ReaderState:
    """What the reader knows of the entries before: enough to read on in a grown file."""

    links: Links = field(default_factory=Links)
    call_ids: set[str] = field(default_factory=set)
    open_calls: dict[str, int] = field(default_factory=dict)
    is_bootstrapped: bool = False
    seq_of_content: dict[bytes, int] = field(default_factory=dict)
    copies: set[int] = field(default_factory=set)
    last_user_seq: int = -1
    turn_mark: Mark = ""

    def turn(self) -> Turn:
        """How the turn stands, to go back to."""
        return Turn(dict(self.open_calls), self.is_bootstrapped, self.last_user_seq, self.turn_mark)

    def go_back(self, turn: Turn) -> None:
        """Forget what entries did to the turn that will come again."""
        self.open_calls, self.is_bootstrapped = turn.open_calls, turn.is_bootstrapped
        self.last_user_seq, self.turn_mark = turn.last_user_seq, turn.turn_mark


def looks_like(record: Mapping[str, Any]) -> bool:
    """Whether a record could stand in such a file: a header, or an entry of a known form."""
    kind = record.get("type")
    if kind == "session":
        return isinstance(record.get("id"), str) and record.get("version", 1) in VERSIONS
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
        for record in records:
            if isinstance(record, Problem):
                yield record
            else:
                for item in self.state.links.link(record):
                    yield from self.tell(item)

    def tell(self, item: Header | Linked | Problem) -> Iterator[Header | Entry | Problem]:
        """What a linked record is: an entry with its mark, and what it lacks or repeats."""
        if isinstance(item, Linked):
            yield from self._entry(item)
        else:
            yield item

    def _entry(self, item: Linked) -> Iterator[Entry | Problem]:
        record = item.record
        # Other agents append nothing again.
        digest = b"" if self.state.links.source else content_digest(record)
        entry = Entry(
            seq=item.seq,
            line=item.line,
            id=item.id,
            parent_seq=item.parent_seq,
            type=type_of(record),
            timestamp_ms=epoch_ms(record.get("timestamp")),
            record=record,
            raw=item.raw,
            kept_seq=item.kept_seq,
            digest=digest,
            mark=self._mark(record, digest, item.seq, item.parent_seq),
        )
        yield from orphans(self.state, entry)
        yield from second_bootstrap(self.state, entry)
        yield entry

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
            at = state.links.parent_of(at)
        appended_again = record.get("type") == "compaction" and original > state.last_user_seq
        if at == original and not appended_again:
            state.seq_of_content[digest] = seq
            return False
        state.copies.add(seq)
        return True
