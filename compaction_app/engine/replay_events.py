"""What a what-if reports: events that fire, and the sizes its summaries are given."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
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


@dataclass(frozen=True, slots=True)
class SummarySizes:
    """How large the summaries are taken to be, in estimated tokens, and where that comes from."""

    sizes: tuple[int, ...]
    source: str

    def size(self, number: int) -> int:
        """The size of the ``number``-th simulated summary: the recorded ones, then their median."""
        if number < len(self.sizes):
            return self.sizes[number]
        return int(median(self.sizes))
