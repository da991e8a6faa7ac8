"""Calls in the middle of a turn of which nothing is cut, taken in one step.

Whatever the turn is, only its first and its last call need their stages one by one; those between are
sums that are compared with the limits of the soft guard, of the copy that is sent and of the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compaction_app.engine.tape.leap_limits import LeapLimits
from compaction_app.engine.tape.leap_rows import (
    append_script,
    bill_bytes,
    is_recorded,
    joins,
    rebilled,
)
from compaction_app.engine.tape.script import Flags, Ints, Script
from compaction_app.engine.tape.tape import LOOP, RESULT, SENT, WORDED
from compaction_app.engine.turn.setup import RunSetup

if TYPE_CHECKING:
    from compaction_app.engine.tape.attempt import ReplayAttempt

FEWEST = 3
"""Fewer calls are taken faster one by one."""


@dataclass(frozen=True, slots=True)
class LeaptCalls:
    """Calls of a turn from ``number`` on; ``first_call`` is the first one's number in the script."""

    number: int
    first_call: int
    prompt: Ints
    tokens: Ints
    messages: Ints


@dataclass(frozen=True, slots=True)
class CallLeaper:
    script: Script
    limits: LeapLimits
    ttl_ms: float
    prunes: bool

    def leap(self, attempt: ReplayAttempt, turn: int) -> LeaptCalls | None:
        """Take the next calls of the turn, but for its last one, as far as they are quiet."""
        session, turns = attempt.session, self.script.turns
        last = int(turns.last_call[turn])
        first = last + 1 - len(session.calls)
        if last - first < FEWEST or attempt.base_forms or attempt.run.results_cut:
            return None
        calls = slice(first, last)
        start = int(self.script.calls.row[first])
        if joins(attempt.tape, self.script, start, start + 1):
            return None
        numbers = _Numbers(self, attempt, calls, start)
        if numbers.is_loud_now():
            return None
        numbers.look()
        count = numbers.quiet()
        return numbers.take(count) if count >= FEWEST else None


def call_leaper(script: Script, limits: LeapLimits, setup: RunSetup) -> CallLeaper | None:
    """None where every call has to be checked by itself."""
    if limits.checks_mid_turn:
        return None
    pruning = setup.pruning
    prunes = pruning is not None and setup.pruning_eligible
    ttl = pruning.ttl_ms if pruning is not None and pruning.ttl_ms > 0 else np.inf
    return CallLeaper(script, limits, ttl, prunes)


class _Numbers:
    def __init__(
        self, leaper: CallLeaper, attempt: ReplayAttempt, calls: slice, start: int
    ) -> None:
        self.leaper, self.attempt, self.calls, self.start = leaper, attempt, calls, start
        self.script, self.tape = leaper.script, attempt.tape
        self.now = attempt.view().totals()

    def is_loud_now(self) -> bool:
        """Whether the next call already has what the limits are about."""
        limits, session = self.leaper.limits, self.attempt.session
        return (
            session.widest_result > limits.single
            or session.longest_result > limits.stored
            or self.now[LOOP] > limits.whole
            or self.now[RESULT] > limits.copy
        )

    def look(self) -> None:
        """What the calls have for contexts, and what they bill."""
        attempt, calls, start = self.attempt, self.calls, self.start
        self.tokens = self._field(SENT)
        self.same = is_recorded(self.tape, self.script, start, calls)
        other = rebilled(self.script, calls, self.tokens, attempt.session.density)
        self.prompt = np.where(self.same, self.script.calls.billed[calls], other)

    def _field(self, field: int) -> Ints:
        whole = self.script.whole[field]
        numbers: Ints = (
            whole[self.script.calls.row[self.calls]] - whole[self.start] + self.now[field]
        )
        return numbers

    def quiet(self) -> int:
        """How many calls nothing happens to."""
        limits, calls, session = self.leaper.limits, self.script.calls, self.attempt.session
        loud: Flags = ~calls.plain[self.calls] | (self.prompt <= 0)
        loud |= calls.longest[self.calls] > limits.stored
        loud |= calls.widest[self.calls] > limits.single
        loud |= self._field(LOOP) > limits.whole
        loud |= self._field(RESULT) > limits.copy
        if limits.images:
            loud |= self._sees_images()
        touched = self.attempt.touched_ms
        if self.leaper.prunes and touched:
            now = np.maximum(calls.at_ms[self.calls], session.clock_ms)
            loud |= now - touched >= self.leaper.ttl_ms
        return int(np.argmax(loud)) if loud.any() else len(loud)

    def _sees_images(self) -> Flags:
        tape, media = self.tape, self.script.places["media"]
        last = tape.media.last_before(len(tape))
        rows = self.script.calls.row[self.calls]
        if last is not None and last >= tape.start:
            return np.ones(len(rows), np.bool_)
        following = media[np.searchsorted(media, self.start) :]
        if not len(following):
            return np.zeros(len(rows), np.bool_)
        ends = self.script.calls.row[self.calls.start + 1 : self.calls.stop + 1]
        seen: Flags = ends > following[0]
        return seen

    def take(self, count: int) -> LeaptCalls:
        """Append the first ``count`` calls with their results."""
        session, first = self.attempt.session, self.calls.start
        taken = slice(first, first + count)
        end = int(self.script.calls.row[first + count])
        same, prompt = self.same[:count], self.prompt[:count]
        changed = ~same
        append_script(
            self.tape,
            self.script,
            (self.start, end),
            self.script.calls.row[taken][changed],
            prompt[changed],
            bill_bytes(self.script, taken, prompt, same)[changed],
        )
        last = session.calls[count - 1]
        session.reach(int(self.script.calls.at_ms[first + count - 1]))
        session.reach(last.answered_ms)
        del session.calls[:count]
        longest, widest = self.script.calls.longest[taken], self.script.calls.widest[taken]
        session.longest_result = max(session.longest_result, int(longest.max()))
        session.widest_result = max(session.widest_result, int(widest.max()))
        number = self.attempt.record.next_call
        messages = self._field(WORDED)[:count]
        return LeaptCalls(number, first, prompt, self.tokens[:count], messages)
