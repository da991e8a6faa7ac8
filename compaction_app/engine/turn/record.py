"""What is kept of a turn: every stage's decision, fired or not, the contexts sent, what fired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compaction_app.engine.decision import Decision
from compaction_app.engine.turn.requests import Context, RunKind
from compaction_app.engine.turn.state import SessionState

Number = int | float
EventKind = Literal[
    "flush",
    "preflight_compaction",
    "threshold_compaction",
    "overflow_compaction",
    "manual_compaction",
    "prune",
    "truncate",
    "guard",
]
TurnOutcome = Literal["answered", "blocked", "failed", "compacted", "refused", "unanswered"]


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One decision where it was made; ``call`` is the number of the next call in the turn.

    ``entries`` are the ids of the entries it is about, by what they are to it.
    """

    stage: str
    run: RunKind
    attempt: int
    call: int
    decision: Decision
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One model call: its number in the turn, what it sent, what came back (none: no answer).

    ``answer_id`` is the id of the answer's entry, where it was recorded.
    """

    run: RunKind
    number: int
    context: Context
    answer: Mapping[str, Any] | None
    answer_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that fired before or at a call of the turn.

    ``tokens_before`` is what was judged, or the stored total before the turn where nothing was;
    ``tokens_after`` what the store holds after the turn, or what the call sent; none where unknown.
    """

    kind: EventKind
    call: int
    tokens_before: Number | None
    tokens_after: Number | None
    threshold: Number | None
    reason: str
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The session after the turn, and the turn's record. ``error`` is what a failed turn says."""

    state: SessionState
    outcome: TurnOutcome
    stages: tuple[StageRecord, ...]
    calls: tuple[CallRecord, ...]
    events: tuple[Event, ...]
    reply: str | None = None
