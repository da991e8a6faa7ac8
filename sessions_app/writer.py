"""One live session under its lock: what its writer can do, and what each write moves along."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from sessions_app import events
from sessions_app.chain import Chain
from sessions_app.importers.links import Links
from sessions_app.importers.openclaw import Reader, ReaderState
from sessions_app.importers.records import Record
from sessions_app.models import Entry as EntryRow
from sessions_app.models import Event, Window, WorkspaceUse
from sessions_app.rows import entry_values, reader_state, storable, storable_json
from sessions_app.tokens import javascript as js
from sessions_app.tokens.exact import encoding_for
from sessions_app.transcripts.measures import Measures, measure
from sessions_app.transcripts.timestamps import iso_text
from sessions_app.transcripts.transcript import Entry, Header, Mark
from sessions_app.transcripts.usage import prompt_tokens
from sessions_app.writing import (
    Appended,
    BadMessage,
    BeforeWrite,
    JsonObject,
    LiveState,
    Receipt,
    Verdict,
    checked_messages,
)

ID_BYTES = 8
_WINDOW_FIELDS = (
    "entry_count",
    "content_bytes",
    "content_lines",
    "head_id",
    "turn_mark",
    "workspace",
    "link",
    "linked_entries",
    "linked_records",
)
_SESSION_FIELDS = (
    "index_entry", "guard", "run", "queued", "last_event", "entry_count", "last_at", "provider",
    "model", "encoding",
)  # fmt: skip


class Writer:
    """A session under its lock; see ``store.writing``. ``state`` may be replaced before the end."""

    def __init__(self, window: Window, now_ms: int) -> None:
        self.window, self.session, self.now_ms = window, window.session, now_ms
        self.state = LiveState(
            index=self.session.index_entry or {},
            guard=self.session.guard,
            run=self.session.run,
            queued=tuple(self.session.queued),
        )
        self._events: list[Event] = []

    @property
    def head(self) -> str | None:
        """The id of the last entry, none while there is none."""
        return self.window.head_id or None

    def append(self, messages: Sequence[JsonObject], before_write: BeforeWrite) -> Appended:
        """Store messages as ``before_write`` wants them.

        Raises:
            BadMessage: for one that is no message, or cannot be written as JSON.
        """
        verdicts = []
        for message in checked_messages(messages):
            verdict, self.state = before_write(message, self.state, self.now_ms)
            verdicts.append(verdict)
        self._check_json(verdicts)
        first = self.window.entry_count
        stored = self.append_entries(self._entry(i) for verdict in verdicts for i in verdict.items)
        rest = iter(stored)
        return Appended(
            receipts=tuple(_receipt(verdict, rest) for verdict in verdicts),
            head=self.head,
            first_seq=first,
            entries=self.window.entry_count,
            tokens=sum(measures.tokens for _, measures in stored),
            event=self.session.last_event,
        )

    def append_entries(self, records: Iterable[JsonObject]) -> list[tuple[Entry, Measures]]:
        """Store records of any type; each answers with its entry and its numbers.

        A record without ``id``, ``parentId`` or ``timestamp`` gets them: a new id, the entry before
        it, the time. One that hangs elsewhere begins a branch.

        Raises:
            NoJson: for a record that cannot be written as JSON.
        """
        placed = self._placed(records)
        if not placed:
            return []
        reader = Reader(self._known(placed))
        line = self.window.content_lines
        items = [
            Record(line + number, record, js.json_text(record).encode("utf-8", "replace"))
            for number, record in enumerate(placed, start=1)
        ]
        stored = [
            (entry, measure(entry, self.session.encoding))
            for entry in reader.read(items)
            if isinstance(entry, Entry)
        ]
        self._use_workspace(stored)
        chain = Chain(self.window)
        rows = ((entry_values(self.window, one, numbers), one.raw) for one, numbers in stored)
        EntryRow.objects.bulk_create(
            (EntryRow(**values) for values in chain.linked(rows)), batch_size=200
        )
        chain.save()
        self._moved(stored, items, reader.state)
        return stored

    def event(self, kind: str, data: Mapping[str, Any]) -> int:
        """Note something that happened, in the same transaction; its number."""
        self._events.append(events.next_event(self.session, kind, data))
        return self.session.last_event

    def save(self) -> None:
        """Write what has changed beside the entries; the end of ``store.writing`` does it."""
        self.session.index_entry = storable_json(dict(self.state.index))
        self.session.guard = storable_json(dict(self.state.guard))
        self.session.run = storable_json(dict(self.state.run))
        self.session.queued = storable_json(list(self.state.queued))
        self.window.save(update_fields=_WINDOW_FIELDS)
        self.session.save(update_fields=_SESSION_FIELDS)
        if self._events:
            Event.objects.bulk_create(self._events)
            self._events = []
            events.tell(self.session)

    def _check_json(self, verdicts: Sequence[Verdict]) -> None:
        for number, verdict in enumerate(verdicts):
            try:
                for item in verdict.items:
                    js.json_text(item)
            except js.NoJson as error:
                raise BadMessage(number, f"cannot be stored: {error}.") from error

    def _entry(self, item: JsonObject) -> JsonObject:
        """A message as the entry that holds it; an entry as it is."""
        if "role" not in item:
            return item
        message = item if "timestamp" in item else {**item, "timestamp": self.now_ms}
        return {"type": "message", "message": message}

    def _placed(self, records: Iterable[JsonObject]) -> list[dict[str, Any]]:
        placed: list[dict[str, Any]] = []
        head = self.head
        for record in records:
            place = {
                "type": record["type"],
                "id": record.get("id") or secrets.token_hex(ID_BYTES),
                "parentId": record.get("parentId", head),
                "timestamp": record.get("timestamp") or iso_text(self.now_ms),
            }
            placed.append({**place, **{k: v for k, v in record.items() if k not in place}})
            head = place["id"]
        return placed

    def _known(self, placed: Sequence[JsonObject]) -> ReaderState:
        """What the reader must know of the entries before these."""
        window, own = self.window, {record["id"] for record in placed}
        linked = own | {self.head}
        branches = any(record["parentId"] not in linked for record in placed)
        if branches or any(record.get("type") == "compaction" for record in placed):
            return reader_state(window)  # these may be copies of what the window holds
        kept = (record.get("firstKeptEntryId") for record in placed)
        missing = {name for name in kept if isinstance(name, str)} - linked
        header = Header(window.external_id, window.version, None)
        links = Links(header, first_seq=window.entry_count)
        if self.head is not None:
            links.seq_of_id[self.head] = window.entry_count - 1
        if missing:
            rows = EntryRow.objects.filter(window=window, entry_id__in=missing).order_by("seq")
            links.seq_of_id |= dict(rows.values_list("entry_id", "seq"))
        return ReaderState(links, turn_mark=cast(Mark, window.turn_mark))

    def _moved(
        self, stored: Sequence[tuple[Entry, Measures]], items: Sequence[Record], state: ReaderState
    ) -> None:
        window, session = self.window, self.session
        first = window.entry_count
        window.entry_count += len(stored)
        window.content_lines += len(items)
        window.content_bytes += sum(len(item.raw) + 1 for item in items)
        window.head_id = stored[-1][0].id
        window.turn_mark = state.turn_mark
        session.entry_count = window.entry_count
        session.last_at = datetime.fromtimestamp(self.now_ms / 1000, UTC)
        for entry, _ in stored:
            if entry.role == "assistant" and not session.model:
                session.provider = storable(entry.message.get("provider"), 100)
                session.model = storable(entry.message.get("model"), 200)
                session.encoding = encoding_for(session.model)
        self.event("entries", {"from": first, "count": len(stored), "head": window.head_id})

    def _use_workspace(self, stored: Sequence[tuple[Entry, Measures]]) -> None:
        """Note which files the first call saw that saw others than the call before it."""
        agent, window = self.session.agent, self.window
        call = next((e.seq for e, _ in stored if e.role == "assistant"), None)
        if agent is None or call is None or agent.workspace_id in (None, window.workspace_id):
            return
        window.workspace_id = agent.workspace_id
        WorkspaceUse.objects.create(window=window, from_seq=call, snapshot_id=agent.workspace_id)


def _receipt(verdict: Verdict, rest: Iterator[tuple[Entry, Measures]]) -> Receipt:
    stored = [next(rest) for _ in verdict.items]
    ids = [entry.id for entry, _ in stored]
    own = None if verdict.own is None else ids.pop(verdict.own)
    usage = None if verdict.own is None else stored[verdict.own][1].usage
    sent = prompt_tokens(usage)
    return Receipt(
        id=own,
        added=tuple(ids),
        reason=verdict.reason,
        changes=verdict.changes,
        tokens=sum(measures.tokens for _, measures in stored),
        billed=None if sent is None or usage is None else round(sent + (usage.output or 0)),
    )
