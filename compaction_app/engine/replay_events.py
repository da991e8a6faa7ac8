"""What a what-if reports: events that fire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from compaction_app.engine.decision import Decision

EventKind = Literal[
    "flush",
    "preflight_compaction",
    "threshold_compaction",
    "overflow_compaction",
    "truncate",
    "guard",
    "prune",
]
COMPACTIONS: Final = ("preflight_compaction", "threshold_compaction", "overflow_compaction")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that fires. ``call`` counts from 1: the call before which, or with which, it happens.

    ``tokens_before`` is what was judged, ``tokens_after`` what the next call sends as far as it is
    known then, both billed unless ``unit`` says otherwise. A ``prune`` holds no decision: it is made
    when asked for (``PrunedCalls.decision``).
    """

    kind: EventKind
    call: int
    turn: int
    tokens_before: int
    tokens_after: int | None
    threshold: int
    unit: str
    reason: str
    decision: Decision | None
    flushed_before: bool | None = None
