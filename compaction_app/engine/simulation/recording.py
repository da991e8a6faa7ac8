"""A recorded session as what people sent and models answered, without what its own policy caused.

Compactions, memory flushes, replies of the gateway, cache markers and copies of a session rewrite are
stripped and counted; a typed ``/compact`` stays a turn. A prompt that was stored again under the same
idempotency key, or appended again by a rewrite, is the same turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from compaction_app.engine.pruning.cache_touch import CACHE_TTL_ENTRY
from compaction_app.engine.recovery_limits import OVERFLOW_TEXT
from compaction_app.engine.turn.requests import KnownSummary
from sessions_app.importers.marks import first_text
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.timestamps import iso_text
from sessions_app.transcripts.transcript import Entry, branch

Record = Mapping[str, Any]
TurnKind = Literal["message", "compact"]
COMMAND: Final = "/compact"
USER_SUFFIX: Final = ":user"
LONG_ID_CHARS: Final = 36
UNRECORDED_OVERFLOW: Final = "prompt is too long"
DATED: Final = frozenset({"compaction", "branch_summary", "custom_message"})
"""Entries whose own time becomes that of the message they put before the model."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The entries of a file and the place of each one's parent; one for all calls of a recording."""

    entries: Sequence[Record] = ()
    parents: Sequence[int | None] = ()

    def up_to(self, leaf: int | None) -> tuple[Record, ...]:
        """The entries from the root to ``leaf``; none without a leaf."""
        return () if leaf is None else tuple(self.entries[n] for n in branch(self.parents, leaf))

    def between(self, start: int | None, leaf: int | None) -> tuple[Record, ...] | None:
        """The entries behind ``start`` up to ``leaf``; none where ``start`` is not on that branch."""
        found: list[Record] = []
        while leaf is not None and leaf != start:
            found.append(self.entries[leaf])
            leaf = self.parents[leaf]
        return tuple(reversed(found)) if leaf == start else None


@dataclass(slots=True)
class RecordedCall:
    """An answer as an entry, the entries of its tools' results, and the place of its parent."""

    entry: Record
    lineage: Lineage = Lineage()
    parent: int | None = None
    results: list[Record] = field(default_factory=list)

    @property
    def path(self) -> tuple[Record, ...]:
        """The entries before the answer, root first."""
        return self.lineage.up_to(self.parent)


@dataclass(slots=True)
class RecordedTurn:
    """One turn of a person; ``seq`` is the place of its prompt in the file. ``before`` are entries with
    a message that stand in front of it, ``leading`` those without."""

    kind: TurnKind
    entry: Record
    number: int
    seq: int
    before: list[Record] = field(default_factory=list)
    leading: list[Record] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)

    @property
    def text(self) -> str:
        return first_text(self.entry["message"])

    @property
    def run_id(self) -> str:
        key = self.entry["message"].get("idempotencyKey")
        return key.removesuffix(USER_SUFFIX) if isinstance(key, str) else ""

    @property
    def instructions(self) -> str | None:
        """What was typed behind ``/compact``."""
        return js.trim(self.text[len(COMMAND) :]) or None if self.kind == "compact" else None


@dataclass(slots=True)
class Caused:
    """What the recording's own policy caused at a place of the file: a compaction with its summary, a
    flush with its calls, or a reply of the gateway."""

    kind: Literal["compaction", "flush", "injected"]
    seq: int
    summary: KnownSummary | None = None
    calls: list[RecordedCall] = field(default_factory=list)


@dataclass(slots=True)
class Recording:
    """``entries`` are those of the file, in its order, with all that was stripped."""

    turns: list[RecordedTurn] = field(default_factory=list)
    caused: list[Caused] = field(default_factory=list)
    stripped: Counter[str] = field(default_factory=Counter)
    entries: tuple[Record, ...] = ()

    @property
    def summaries(self) -> list[KnownSummary]:
        """The summaries of its compactions, in order."""
        return [c.summary for c in self.caused if c.summary is not None]

    @property
    def flushes(self) -> list[list[RecordedCall]]:
        """The calls of each of its memory flushes, in order."""
        return [c.calls for c in self.caused if c.kind == "flush"]


def read_recording(entries: Sequence[Entry]) -> Recording:
    """The recording of a transcript's entries, on the branch of the last one."""
    reader = _Reader(entries)
    for entry in _conversation(entries):
        reader.take(entry)
    return reader.recording


def _conversation(entries: Sequence[Entry]) -> Iterable[Entry]:
    """The active branch, each copy replaced by what it is a copy of."""
    if not entries:
        return ()
    first: dict[bytes, Entry] = {}
    for entry in entries:
        if entry.digest and entry.mark != "copy":
            first.setdefault(entry.digest, entry)
    path = branch([entry.parent_seq for entry in entries], len(entries) - 1)
    taken = (entries[seq] for seq in path)
    originals = (first.get(e.digest, e) if e.mark == "copy" else e for e in taken)
    return list({entry.seq: entry for entry in originals}.values())


class _Reader:
    def __init__(self, entries: Sequence[Entry]) -> None:
        self.ids = [entry.id for entry in entries]
        self.times = _times(entries)
        self.recording = Recording(entries=tuple(map(self._plain, entries)))
        self.keys: set[str] = set()
        self.calls: list[RecordedCall] | None = None
        self.waiting: list[Record] = []
        parents = [entry.parent_seq for entry in entries]
        self.lineage = Lineage(self.recording.entries, parents)

    def take(self, entry: Entry) -> None:
        """Sort one entry of the conversation in."""
        if entry.type == "compaction":
            self._compaction(entry)
        elif entry.role == "user":
            self._user(entry)
        elif entry.mark == "injected" or _is_overflow_reply(entry):
            self._caused(Caused("injected", entry.seq))
        elif entry.role == "assistant":
            self._answer(entry)
        elif entry.role == "toolResult":
            if self.calls:
                self.calls[-1].results.append(self._plain(entry))
        elif entry.type == "custom" and entry.record.get("customType") == CACHE_TTL_ENTRY:
            self.recording.stripped["cache_marker"] += 1
        else:
            self.waiting.append(self._plain(entry))

    def _compaction(self, entry: Entry) -> None:
        self._unrecorded_overflow(entry)
        record = entry.record
        details = record.get("details")
        summary = record.get("summary")
        known = KnownSummary(
            text=summary if isinstance(summary, str) else "",
            details=details if isinstance(details, Mapping) else None,
            from_hook=record.get("fromHook") is True,
        )
        self._caused(Caused("compaction", entry.seq, known))

    def _unrecorded_overflow(self, entry: Entry) -> None:
        """A compaction right behind a prompt: the prompt was refused, in a file that keeps no failures.

        Such files are those with long ids; older ones keep the failed answer.
        """
        turn = self.recording.turns[-1] if self.recording.turns else None
        if turn is None or turn.kind != "message" or turn.calls or self.calls is not turn.calls:
            return
        if len(entry.id or "") != LONG_ID_CHARS:
            return
        message = {
            "role": "assistant",
            "content": [],
            "stopReason": "error",
            "errorMessage": UNRECORDED_OVERFLOW,
            "usage": dict.fromkeys(
                ("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0
            ),
        }
        when = {"id": f"{entry.id}-refused", "timestamp": entry.record.get("timestamp")}
        refused = {"type": "message", **when, "message": message}
        turn.calls.append(RecordedCall(refused, self.lineage, entry.parent_seq))

    def _user(self, entry: Entry) -> None:
        recording = self.recording
        if entry.mark == "flush":
            caused = Caused("flush", entry.seq)
            self.calls = caused.calls
            self._caused(caused)
            return
        key = entry.message.get("idempotencyKey")
        if isinstance(key, str) and key in self.keys:
            recording.stripped["stored_again"] += 1
            return
        if isinstance(key, str):
            self.keys.add(key)
        turn = RecordedTurn(
            kind="compact" if entry.mark == "compact_command" else "message",
            entry=self._plain(entry),
            number=len(recording.turns) + 1,
            seq=entry.seq,
            before=[e for e in self.waiting if _holds_message(e)],
            leading=[e for e in self.waiting if not _holds_message(e)],
        )
        self.waiting = []
        self.calls = turn.calls
        recording.turns.append(turn)

    def _answer(self, entry: Entry) -> None:
        if self.calls is None:
            self.recording.stripped["answer_without_prompt"] += 1
            return
        if self.calls and _is_final(self.calls[-1]):
            # A run without a stored prompt, such as the announcement of a subagent (runs 2).
            self.recording.stripped["run_without_prompt"] += 1
            self.waiting.append(self._plain(entry))
            return
        self.calls.append(RecordedCall(self._plain(entry), self.lineage, entry.parent_seq))

    def _plain(self, entry: Entry) -> Record:
        """The entry with its id and time; old files name neither ids nor kept entries, and other agents,
        whose entries have no digest, not always a moment. A broken compaction of the runtime stays so."""
        record = entry.record
        if entry.type in DATED and entry.timestamp_ms is None and not entry.digest:
            record = {**record, "timestamp": iso_text(self.times[entry.seq])}
        if isinstance(record.get("id"), str):
            return record
        plain = {**record, "id": entry.id, "parentId": None}
        if entry.kept_seq is not None:
            plain["firstKeptEntryId"] = self.ids[entry.kept_seq]
        return plain

    def _caused(self, caused: Caused) -> None:
        self.recording.stripped[caused.kind] += 1
        self.recording.caused.append(caused)


def _is_final(call: RecordedCall) -> bool:
    """Whether an answer ended its run."""
    return not call.results and call.entry["message"].get("stopReason") == "stop"


def _is_overflow_reply(entry: Entry) -> bool:
    """The runtime's last word on an overflow, which local runs store like an answer of the model."""
    return entry.role == "assistant" and first_text(entry.message) == OVERFLOW_TEXT


def _holds_message(entry: Record) -> bool:
    return entry.get("type") in ("message", "custom_message", "branch_summary")


def _times(entries: Sequence[Entry]) -> list[int]:
    """The last time recorded up to each entry, milliseconds since 1970; before the first one, that one."""
    known = (entry.timestamp_ms for entry in entries if entry.timestamp_ms is not None)
    at, times = next(known, 0), []
    for entry in entries:
        at = at if entry.timestamp_ms is None else entry.timestamp_ms
        times.append(at)
    return times
