"""A session while it is replayed, and the record of one of its turns.

The counterpart of ``turn.work`` on rows: stages note their decisions here and append to the tape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.guard import guard_limits, guard_window
from compaction_app.engine.recovery_limits import max_iterations
from compaction_app.engine.simulation.inputs import FIRST_NEW_ID
from compaction_app.engine.tape.copying import CopiedResults
from compaction_app.engine.tape.leap_calls import CallLeaper, LeaptCalls
from compaction_app.engine.tape.recorded import CallRows, RecordedRows, TurnRows
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import Tape
from compaction_app.engine.turn.record import Event, EventKind, Number, StageRecord, TurnOutcome
from compaction_app.engine.turn.requests import KnownSummary, RunKind
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.work import STORED_LATER
from sessions_app.transcripts.session_index import total_tokens
from sessions_app.transcripts.timestamps import iso_text


@dataclass(frozen=True, slots=True)
class SentCall:
    """One model call: the row of its answer (none: nobody answered), and the tokens of its context."""

    run: RunKind
    number: int
    answer: Row | None
    tokens: int
    messages: int
    cut_messages: int
    recorded: CallRows | None


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """What a turn did; as ``turn.record.TurnResult``, without its texts."""

    recorded: TurnRows
    outcome: TurnOutcome
    stages: tuple[StageRecord, ...]
    calls: tuple[SentCall | LeaptCalls, ...]
    events: tuple[Event, ...]
    reply: str | None


class NeedsTexts(Exception):
    """The replay comes to a point at which somebody has to read the texts."""


class SessionReplay:
    """Everything that outlives a turn. ``density``: billed tokens per estimated one."""

    def __init__(
        self,
        setup: RunSetup,
        recorded: RecordedRows,
        summaries: Iterator[KnownSummary],
        density: float,
        header_bytes: int,
        own_policy: bool,
    ) -> None:
        self.setup, self.recorded, self.maker = setup, recorded, recorded.maker
        self.density, self.own_policy = density, own_policy
        self.tape = Tape(self.maker, header_bytes)
        self.index: Mapping[str, Any] = {}
        self.queued: tuple[str, ...] = ()
        self.clock_ms: float = 0
        self.touched_ms: float | None = None
        self.longest_result = 0
        self.widest_result = 0
        self._summaries = summaries
        self._last_summary: KnownSummary | None = None
        self._flushes = iter(recorded.flushes)
        self.calls: list[CallRows] = []
        self.flush_calls: list[CallRows] = []
        self._numbers = FIRST_NEW_ID - 1
        self.call_leaper: CallLeaper | None = None
        self.copied: CopiedResults | None = None
        rules, guard = setup.rules, setup.rules.pruning.guard
        self.most_attempts = int(max_iterations(rules.run_recovery, setup.config, 0))
        window = guard_window(
            setup.lines.window, setup.lines.window, setup.policy.max_tokens, guard
        )
        self.guard_limits = guard_limits(window, guard)

    def begin(self, turn: TurnRows) -> None:
        """The next turn: its calls, its time, and what stands before it."""
        self.calls = list(turn.calls)
        self.flush_calls = []
        self.reach(turn.arrived_ms)
        for row in turn.before:
            self.append(row)

    def reach(self, moment_ms: int | None) -> None:
        """Time never runs backwards, whatever a recording says."""
        if moment_ms is not None:
            self.clock_ms = max(self.clock_ms, moment_ms)

    def new_id(self) -> str:
        self._numbers += 1
        return f"{self._numbers:08x}"

    def append(self, row: Row) -> None:
        self.tape.append(row)
        self.longest_result = max(self.longest_result, row.result)
        self.widest_result = max(self.widest_result, row.loop if row.role == "toolResult" else 0)

    def append_entry(self, kind: Mapping[str, Any]) -> None:
        """A new entry, under a new id."""
        new = {"type": kind["type"], "id": self.new_id(), "parentId": None}
        self.append(self.maker.row({**new, "timestamp": iso_text(self.clock_ms), **kind}))

    def summary(self) -> KnownSummary:
        """The next summary; the last one again where there are no more."""
        self._last_summary = next(self._summaries, self._last_summary)
        if self._last_summary is None:
            raise NeedsTexts("no summary was recorded that could stand in")
        return self._last_summary

    def next_flush_call(self) -> CallRows | None:
        if not self.flush_calls:
            self.flush_calls = list(next(self._flushes, ()))
        return self.flush_calls.pop(0) if self.flush_calls else None


class TurnRecord:
    """One turn of a replay."""

    def __init__(self, session: SessionReplay, turn: TurnRows) -> None:
        self.session, self.turn = session, turn
        self.setup, self.rules, self.tape = session.setup, session.setup.rules, session.tape
        self.queued = session.queued
        self.total_before = total_tokens(session.index)
        self.attempt, self.next_call = 0, 1
        self.run: RunKind = "turn"
        self._stages: list[StageRecord] = []
        self._calls: list[SentCall | LeaptCalls] = []
        self._events: list[Event] = []

    def note(
        self, stage: str, decision: Decision, entries: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """Keep a stage's decision, fired or not."""
        made = StageRecord(stage, self.run, self.attempt, self.next_call, decision, entries or {})
        self._stages.append(made)

    def called(self, call: SentCall) -> None:
        self._calls.append(call)
        self.next_call += 1

    def leapt(self, calls: LeaptCalls) -> None:
        self._calls.append(calls)
        self.next_call += len(calls.prompt)

    def fired(
        self,
        kind: EventKind,
        before: Number | None,
        threshold: Number | None,
        reason: str,
        decision: Decision | None = None,
        after: Number | None = None,
    ) -> None:
        event = Event(kind, self.next_call, before, after, threshold, reason, decision)
        self._events.append(event)

    def append_prompt(self) -> None:
        for row in (*self.turn.leading, self.turn.stored):
            self.session.append(row)

    def finished(self, outcome: TurnOutcome, reply: str | None = None) -> ReplayedTurn:
        total = total_tokens(self.session.index)
        events = [
            replace(event, tokens_after=total) if event.kind in STORED_LATER else event
            for event in self._events
        ]
        return ReplayedTurn(
            self.turn, outcome, tuple(self._stages), tuple(self._calls), tuple(events), reply
        )
