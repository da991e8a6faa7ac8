"""What the recording itself says happened: its compactions, flushes and totals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compaction_app.engine.cache_breaks import recorded_breaks
from compaction_app.engine.calibration import weigh
from compaction_app.engine.decision import Decision, Scalar
from compaction_app.engine.replay import Replay, Totals
from compaction_app.engine.replay_events import COMPACTIONS
from compaction_app.engine.stripped import stripped_rows
from sessions_app.transcripts.columns import MARKS, UNKNOWN, USER, Ints
from sessions_app.transcripts.timeline import Timeline

TITLES = {
    "flush": "memory flush",
    "guard": "pre-prompt check",
    "truncate": "tool results cut",
}


MEASURES = {"estimated": "est.", "billed total": "total", "billed prompt": "prompt"}
"""A line's unit in a word."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One row of the table of events, recorded or simulated. Token figures may be unknown."""

    number: int
    call: int
    turn: int
    kind: str
    simulated: bool
    reason: str
    before: int | None
    after: int | None
    threshold: int | None
    unit: str
    flushed_before: bool | None
    value: int
    note: str = ""
    decision: Decision | None = None

    @property
    def arithmetic(self) -> str:
        """The decision's steps, one line each; "" for what was only recorded."""
        steps = self.decision.steps if self.decision else ()
        return "\n".join(f"{step.formula or step.name} = {_figure(step.value)}" for step in steps)

    @property
    def is_estimated(self) -> bool:
        return self.unit.startswith("estimated")

    @property
    def before_measure(self) -> str:
        """What ``before`` is a count of, in a word; "" where nothing was counted."""
        if self.before is None:
            return ""
        if not self.simulated:
            return "stored"
        return next(
            (word for start, word in MEASURES.items() if self.unit.startswith(start)), "prompt"
        )

    @property
    def after_measure(self) -> str:
        """The same of ``after``: what the next call had."""
        if self.after is None:
            return ""
        if not self.simulated:
            return "total"
        return "est." if self.kind == "truncate" else "prompt"

    @property
    def title(self) -> str:
        if self.reason == "context_overflow":
            return "turn blocked"
        return TITLES.get(self.kind, self.kind.replace("_", " "))

    @property
    def is_compaction(self) -> bool:
        return self.kind in COMPACTIONS or self.kind == "compaction"


def _figure(value: Scalar) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def recorded_happenings(grown: Timeline) -> list[Happening]:
    """Compactions and flush turns on the branch, in order."""
    own = np.flatnonzero(~stripped_rows(grown.columns)[grown.place])
    found = sorted([*_compactions(grown, own), *_flushes(grown, own)], key=lambda each: each[0])
    return sorted((happening for _, happening in found), key=lambda happening: happening.call)


def simulated_happenings(grown: Timeline, done: Replay) -> list[Happening]:
    """The events of a what-if as rows, but for pruned calls: those come folded."""
    return [
        Happening(
            number=0,
            call=min(event.call, max(grown.calls, 1)),
            turn=event.turn,
            kind=event.kind,
            simulated=True,
            reason=event.reason,
            before=event.tokens_before,
            after=event.tokens_after,
            threshold=event.threshold,
            unit=event.unit,
            flushed_before=event.flushed_before,
            value=_height(event.tokens_before, event.unit, done, event.call),
            decision=event.decision,
        )
        for event in done.events
        if event.kind != "prune"
    ]


def recorded_totals(grown: Timeline) -> Totals:
    """The same figures for the recording as a what-if has for itself."""
    happened = recorded_happenings(grown)
    flushed = compactions = 0
    fresh = False
    for event in happened:
        if event.kind == "flush":
            fresh = True
        else:
            compactions += 1
            flushed += fresh
            fresh = False
    sent = np.where(grown.is_estimate, grown.estimated, grown.billed_prompt)
    injected = grown.columns.mark == MARKS.index("injected")
    breaks = recorded_breaks(grown, weigh(grown))
    return Totals(
        calls=grown.calls,
        flushes=sum(event.kind == "flush" for event in happened),
        compactions=compactions,
        flushed_before=flushed,
        blocked=int(injected.sum()),
        tokens_sent=int(sent[~stripped_rows(grown.columns)[grown.place]].sum()),
        peak=grown.peak,
        tokens_resent=breaks.resent if breaks else None,
    )


def _compactions(grown: Timeline, own: Ints) -> list[tuple[int, Happening]]:
    """Each with its place on the branch."""
    found = []
    for place, call, before in zip(
        grown.compactions.place.tolist(),
        grown.compactions.before_call.tolist(),
        grown.compactions.tokens_before.tolist(),
        strict=True,
    ):
        last = int(grown.shown[call - 1]) if call > 0 else 0
        after = _next_billed(grown, call)
        known = before if before > 0 else None
        found.append((place, _happening(grown, own, call, "compaction", known, after, last)))
    return found


def _flushes(grown: Timeline, own: Ints) -> list[tuple[int, Happening]]:
    rows = grown.columns
    places = np.flatnonzero((rows.mark == MARKS.index("flush")) & (rows.kind == USER))
    found = []
    for place in places.tolist():
        call = int(np.searchsorted(grown.place, place))
        value = int(grown.shown[min(call, grown.calls - 1)]) if grown.calls else 0
        found.append((place, _happening(grown, own, call, "flush", None, None, value)))
    return found


def _happening(
    grown: Timeline,
    own: Ints,
    call: int,
    kind: str,
    before: int | None,
    after: int | None,
    value: int,
) -> Happening:
    ended = kind != "flush" and (call == 0 or call - 1 in own)  # with a call of the conversation
    shown_call = max(call, 1) if ended else _call_behind(grown, own, call)
    return Happening(
        0,
        shown_call,
        _turn(grown, own, call),
        kind,
        False,
        "recorded",
        before,
        after,
        None,
        "",
        None,
        value,
    )


def _call_behind(grown: Timeline, own: Ints, call: int) -> int:
    """The number of the conversation's call that a flush runs ahead of, as in a what-if; its own calls are
    numbered, too. The last call where none follows."""
    following = int(np.searchsorted(own, call))
    return int(own[following]) + 1 if following < len(own) else max(grown.calls, 1)


def _turn(grown: Timeline, own: Ints, call: int) -> int:
    """The turn of the first of the conversation's ``own`` calls at or behind ``call``: a flush belongs
    to the turn that it runs ahead of. The last turn where no such call follows, 0 without calls."""
    if not grown.calls:
        return 0
    following = int(np.searchsorted(own, call))
    return int(grown.turn[own[following] if following < len(own) else -1])


def _next_billed(grown: Timeline, call: int) -> int | None:
    """The billed total of the first call with usage at or behind ``call``, before a next compaction."""
    following = grown.compactions.before_call[grown.compactions.before_call > call]
    end = int(following[0]) if len(following) else grown.calls
    known = np.flatnonzero(grown.billed_total[call:end] != UNKNOWN)
    return int(grown.billed_total[call + known[0]]) if len(known) else None


def _height(before: int, unit: str, done: Replay, call: int) -> int:
    """Where a marker stands on the what-if curve: at the total of its call."""
    if unit != "estimated tokens" or not len(done.total):
        return before
    place = min(max(call - 1, 0), len(done.total) - 1)
    around = done.total[max(place - 1, 0) : place + 1]
    return int(around.max())
