"""What the recording shows of compactions and flushes: each with its turn and what it freed.

Sizes are compared like with like. Where the provider billed a call before and one after a compaction,
those two are compared, the constant overhead and what came in between taken off; elsewhere the
estimates of the messages are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from compaction_app.engine.diagnose.subject import Subject
from sessions_app.transcripts.columns import ASSISTANT, COMPACTION, MARKS, USER
from sessions_app.transcripts.signs import FlushSign, Signs, SummarySign
from sessions_app.transcripts.timeline import Timeline

_COMMAND = MARKS.index("compact_command")
_COPY = MARKS.index("copy")


@dataclass(frozen=True, slots=True)
class Compacted:
    """One compaction on the branch.

    ``place`` is its position on the branch, ``call`` the call that came next, ``turn`` how many turns
    came before, ``start`` where its context began and ``kept`` where what it kept begins. ``before``
    and ``after`` are tokens of one and the same measure, ``estimate`` the messages before it by
    characters / 4, ``dropped`` the estimate of what it summarised.
    """

    place: int
    line: int | None
    call: int
    turn: int
    start: int
    kept: int
    is_manual: bool
    estimate: int
    dropped: int
    before: int
    after: int
    measure: Literal["billed tokens", "estimated tokens"]
    sign: SummarySign | None

    @property
    def freed(self) -> float:
        """The share of the context that went, negative when it grew."""
        return (self.before - self.after) / self.before if self.before > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Cycle:
    """The calls between two compactions, and how many flushes ran among them."""

    first_call: int
    end_call: int
    flushes: int
    compacted: bool
    is_manual: bool


class History:
    """The recorded branch of a subject that has a transcript."""

    def __init__(self, subject: Subject, grown: Timeline) -> None:
        self._subject = subject
        self.grown: Timeline = grown
        self.signs: Signs = subject.signs
        self._sums = np.concatenate(
            ([0], np.cumsum(np.where(grown.columns.kind == COMPACTION, 0, grown.columns.tokens)))
        )
        self._persons = np.concatenate(([0], np.cumsum(subject.is_person)))
        self._density = subject.calibration.density
        self._overhead = subject.calibration.overhead if subject.calibration.enough else 0.0
        self.flushes: tuple[FlushSign, ...] = tuple(
            flush for flush in self.signs.flushes if self.place_of(flush.seq) is not None
        )
        self.flush_places = [self.place_of(flush.seq) or 0 for flush in self.flushes]
        self.compactions: list[Compacted] = self._compactions()
        self.cycles: list[Cycle] = self._cycles()

    def place_of(self, seq: int) -> int | None:
        """The position of an entry on the branch, none when it is not on it."""
        at = int(np.searchsorted(self.grown.branch, seq))
        is_here = at < len(self.grown.branch) and int(self.grown.branch[at]) == seq
        return at if is_here else None

    def line_at(self, place: int) -> int | None:
        """The line of the file on which the entry at a position of the branch stands."""
        return self.signs.line_of(int(self.grown.branch[place]))

    def turn_at(self, place: int) -> int:
        """How many turns began before a position."""
        return int(self._persons[place])

    def turn_ends(self, first: int, end: int) -> list[int]:
        """The last billed call of each turn among the calls ``first`` to ``end``."""
        last_of_turn = {
            int(self.grown.turn[c]): c for c in self._subject.billed_between(first, end)
        }
        return list(last_of_turn.values())

    def estimate(self, start: int, end: int) -> int:
        """Estimated tokens of the entries between two positions."""
        return int(self._sums[end] - self._sums[start]) if end > start else 0

    def pressure(self, start: int, end: int) -> int:
        """What the pre-prompt check counts for the entries between two positions, before its margin."""
        rows = self.grown.columns
        return int(np.where(rows.kind == COMPACTION, 0, rows.pressure)[start:end].sum())

    def prompt_behind(self, place: int) -> tuple[int, int]:
        """Estimate and pressure of the prompt that stands right behind a compaction; 0 without one."""
        rows = self.grown.columns
        is_prompt = place + 1 < len(rows.kind) and int(rows.kind[place + 1]) == USER
        return (int(rows.tokens[place + 1]), int(rows.pressure[place + 1])) if is_prompt else (0, 0)

    def _compactions(self) -> list[Compacted]:
        recorded = self.grown.compactions
        signs = {sign.seq: sign for sign in self.signs.summaries}
        seen: set[str] = set()
        found: list[Compacted] = []
        start = base = 0
        ends = [*recorded.before_call.tolist()[1:], self.grown.calls]
        previous_call = 0
        for number, place in enumerate(recorded.place.tolist()):
            sign = signs.get(int(self.grown.branch[place]))
            kept, summary = int(recorded.kept[number]), int(recorded.summary_tokens[number])
            call = int(recorded.before_call[number])
            is_copy = (
                sign is not None
                and int(self.grown.columns.mark[place]) == _COPY
                and sign.digest in seen
            )
            if not is_copy:
                estimate = base + self.estimate(start, place)
                kept_estimate = self.estimate(kept, place)
                sizes = self._billed_sizes(previous_call, call, ends[number], place)
                before, after = sizes or (estimate, summary + kept_estimate)
                found.append(
                    Compacted(
                        place, self.line_at(place), call, self.turn_at(place), start, kept,
                        self._is_manual(place), estimate, self.estimate(start, kept), before, after,
                        "billed tokens" if sizes else "estimated tokens", sign,
                    )
                )  # fmt: skip
                previous_call = call
            if sign is not None:
                seen.add(sign.digest)
            start, base = kept, summary
        return found

    def _billed_sizes(self, first: int, call: int, end: int, place: int) -> tuple[int, int] | None:
        """What the calls around a compaction were billed, what else they held taken off."""
        grown = self.grown
        before = self._subject.billed_between(first, call)
        after = self._subject.billed_between(call, end)
        if not (before and after):
            return None
        last, following = before[-1], after[0]
        came_before = self.estimate(int(grown.place[last]) + 1, place)
        came_after = self.estimate(place + 1, int(grown.place[following]))
        was = int(grown.billed_total[last]) + self._density * came_before - self._overhead
        left = int(grown.billed_prompt[following]) - self._density * came_after - self._overhead
        return (round(was), round(max(left, 0))) if was > 0 else None

    def _is_manual(self, place: int) -> bool:
        rows = self.grown.columns
        at = place - 1
        while at >= 0 and rows.kind[at] not in (USER, ASSISTANT, COMPACTION):
            at -= 1
        return at >= 0 and int(rows.kind[at]) == USER and int(rows.mark[at]) == _COMMAND

    def _cycles(self) -> list[Cycle]:
        cycles = []
        first = start = 0
        for compacted in self.compactions:
            count = sum(start <= place < compacted.place for place in self.flush_places)
            cycles.append(Cycle(first, compacted.call, count, True, compacted.is_manual))
            first, start = compacted.call, compacted.place
        count = sum(place >= start for place in self.flush_places)
        return [*cycles, Cycle(first, self.grown.calls, count, False, False)]


def history_of(subject: Subject) -> History | None:
    """The recorded branch, none when no transcript was looked at."""
    return History(subject, subject.grown) if subject.grown is not None else None
