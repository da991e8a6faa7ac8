"""Turns in which nothing fires, taken in one step.

For a stretch of the script every number that a stage would compare is a difference of running sums; the
stretch ends before the first turn in which one of them could reach its line. That turn is then taken
stage by stage (``tape.turn``), so a line that is drawn too early here costs time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from compaction_app.engine.tape.tape import LOOP, PRESSURE, RESULT, SENT, WORDED
from compaction_app.engine.tape.work import SessionReplay
from sessions_app.tokens.message_tokens import usage_tokens
from sessions_app.tokens.pressure import SAFETY_MARGIN
from sessions_app.transcripts.index_updates import RunReport, persist_usage
from sessions_app.transcripts.session_index import (
    fresh_total_tokens,
    is_known_fresh,
    was_flushed_in_cycle,
)
from sessions_app.transcripts.usage import Usage, prompt_tokens

SHORTEST = 8
LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Leap:
    """Turns ``first`` to ``end`` of a recording, and per call of theirs what was billed and sent."""

    first: int
    end: int
    first_call: int
    prompt: Ints
    tokens: Ints
    messages: Ints


class Leaper:
    """Leaps over a session's quiet turns."""

    def __init__(self, session: SessionReplay, script: Script, limits: LeapLimits) -> None:
        self.session, self.script, self.limits = session, script, limits
        self.tape = session.tape
        self._size = SHORTEST

    def leap(self, first: int, end: int) -> Leap | None:
        """The longest quiet stretch from turn ``first`` on, before turn ``end``; none if there is none."""
        if (
            not self.limits.leaps
            or not self.script.turns.plain[first]
            or not self._is_settled(first)
        ):
            return None
        end = min(end, first + self._size)
        stretch = _Stretch(self, first, end)
        quiet = stretch.quiet_until()
        self._size = min(self._size * 2, LONGEST) if quiet == end else SHORTEST
        return stretch.take(quiet) if quiet > first else None

    def _is_settled(self, first: int) -> bool:
        """Whether the next turn begins like any other: nothing is pending, stale or unusual."""
        session, tape, limits, script = self.session, self.tape, self.limits, self.script
        if session.queued or session.widest_result > limits.single:
            return False
        if session.longest_result > limits.stored:
            return False
        last_image = tape.media.last_before(len(tape))
        if limits.images and last_image is not None and last_image >= tape.start:
            return False
        if limits.needs_total and not self._knows_total(first):
            return False
        last = tape.all_answers.last_before(len(tape))
        if last is not None:
            row = tape.row(last)
            usage = (row.message or {}).get("usage")
            if row.failed or (row.message or {}).get("stopReason") == "length":
                return False
            known = usage_tokens(usage) if isinstance(usage, dict) else 0
            if last >= tape.start and known > limits.inner:
                return False
        start, end = int(script.turns.first[first]), int(script.turns.end[first])
        return not joins(tape, script, start, end)

    def _knows_total(self, first: int) -> bool:
        session, limits = self.session, self.limits
        total = fresh_total_tokens(session.index)
        if total is None or not is_known_fresh(session.index) or not total > 0:
            return False
        if not self.tape.file_usage:
            return False
        last = prompt_tokens(self.tape.file_row(self.tape.file_usage[-1]).usage)
        near = total + self.script.turns.estimate[first] >= limits.flush_near
        return last == total or limits.flush is None or not near


class _Stretch:
    """Turns ``first`` to ``end``, all their numbers as if nothing fired."""

    def __init__(self, leaper: Leaper, first: int, end: int) -> None:
        self.leaper, self.session, self.tape = leaper, leaper.session, leaper.tape
        self.script, self.limits = leaper.script, leaper.limits
        self.first, self.end = first, end
        turns, calls = self.script.turns, self.script.calls
        self.start = int(turns.first[first])
        self.calls = slice(int(turns.first_call[first]), int(turns.last_call[end - 1]) + 1)
        self.of = slice(first, end)
        self.prompts = turns.prompt[self.of]
        self.rows = calls.row[self.calls]
        self.turn = calls.turn[self.calls] - first
        self.history = self._history()
        self.tokens = self._at_calls(SENT)
        self.prompt = self._billed()

    def _history(self) -> Ints:
        """Per field and turn: what an attempt takes over."""
        now = np.array(self.tape.history(len(self.tape)), np.int64)
        taken = self.script.taken
        grown: Ints = now[:, None] + taken[:, self.prompts] - taken[:, [self.start]]
        return grown

    def _at_calls(self, field: int) -> Ints:
        """A field of every call's context."""
        whole = self.script.whole[field]
        news = whole[self.rows] - whole[self.prompts + 1][self.turn]
        brought = self.history[field] + self.script.turns.sent[field, self.of]
        total: Ints = brought[self.turn] + news
        return total

    def _billed(self) -> Ints:
        """The bills: recorded where the context is the recorded one."""
        self.same = is_recorded(self.tape, self.script, self.start, self.calls)
        other = rebilled(self.script, self.calls, self.tokens, self.session.density)
        return np.where(self.same, self.script.calls.billed[self.calls], other)

    def quiet_until(self) -> int:
        """The first turn in which something could fire."""
        turns, limits = self.script.turns, self.limits
        loud: Flags = ~turns.plain[self.of]
        loud |= turns.longest[self.of] > limits.stored
        loud |= turns.widest[self.of] > limits.single
        loud |= self._gates_fire()
        loud |= self._check_fires()
        loud |= self._calls_fire()
        if limits.images:
            loud |= self._sees_images()
        found = int(np.argmax(loud))
        return self.first + found if loud[found] else self.end

    def _gates_fire(self) -> Flags:
        turns, limits, session = self.script.turns, self.limits, self.session
        loud = np.zeros(self.end - self.first, np.bool_)
        if not limits.needs_total:
            return loud
        last = turns.last_call[self.of] - self.calls.start
        known = fresh_total_tokens(session.index) or 0
        total = np.concatenate(([known], self.prompt[last[:-1]]))
        loud |= total >= limits.preflight
        if np.isfinite(limits.max_bytes):
            loud |= self._bytes_at_gates() >= limits.max_bytes
        if limits.flush is None or was_flushed_in_cycle(session.index):
            return loud
        number = self.tape.file_usage[-1]
        usage = self.tape.file_row(number).usage
        output = int(usage.output or 0) if usage else 0
        outputs = np.concatenate(([output], self.script.calls.output[self.calls][last[:-1]]))
        loud |= total + outputs + turns.estimate[self.of] >= limits.flush_line
        if limits.flush.force_bytes > 0:
            loud |= self._bytes_at_gates() >= limits.flush.force_bytes
        return loud

    def _bytes_at_gates(self) -> Ints:
        """At least what the file holds when a turn's gates look."""
        grown = self.script.bytes[self.script.turns.gate[self.of]] - self.script.bytes[self.start]
        rebilled = np.cumsum(np.append(0, self._bill_bytes()))
        calls = self.script.turns.first_call[self.of] - self.calls.start
        size: Ints = self.tape.byte_size + 36 + grown + rebilled[calls]
        return size

    def _bill_bytes(self) -> Ints:
        return bill_bytes(self.script, self.calls, self.prompt, self.same)

    def _check_fires(self) -> Flags:
        limits, turns = self.limits, self.script.turns
        total = self.history[PRESSURE] + turns.sent_pressure[self.of] + limits.system
        loud: Flags = np.ceil(total * SAFETY_MARGIN) > limits.check
        loud |= self.history[RESULT] > limits.copy
        return loud

    def _calls_fire(self) -> Flags:
        limits, calls = self.limits, self.script.calls
        loud = self.prompt <= 0
        if np.isfinite(limits.whole):
            loud |= self._at_calls(LOOP) > limits.whole
        if np.isfinite(limits.copy):
            loud |= self._at_calls(RESULT) > limits.copy
        if np.isfinite(limits.inner):
            loud |= self.prompt > self.session.setup.lines.window
            billed = np.where(
                self.same, calls.total[self.calls], self.prompt + calls.output[self.calls]
            )
            last = np.zeros(len(loud), np.bool_)
            last[self.script.turns.last_call[self.of] - self.calls.start] = True
            loud |= last & (billed > limits.inner)
        turns = np.zeros(self.end - self.first, np.bool_)
        turns[self.turn[loud]] = True
        return turns

    def _sees_images(self) -> Flags:
        media = self.script.places["media"]
        following = media[np.searchsorted(media, self.start) :]
        if not len(following):
            return np.zeros(self.end - self.first, np.bool_)
        seen: Flags = self.script.turns.end[self.of] > following[0]
        return seen

    def take(self, end: int) -> Leap:
        """Append the turns before ``end``."""
        turns = self.script.turns
        count = int(turns.last_call[end - 1]) + 1 - self.calls.start
        leap = Leap(
            self.first,
            end,
            self.calls.start,
            self.prompt[:count],
            self.tokens[:count],
            self._at_calls(WORDED)[:count],
        )
        self._append(int(turns.end[end - 1]), count)
        session = self.session
        latest = int(turns.latest_ms[self.first : end].max())
        session.clock_ms = max(session.clock_ms, latest)
        longest = int(turns.longest[self.first : end].max())
        session.longest_result = max(session.longest_result, longest)
        session.widest_result = max(
            session.widest_result, int(turns.widest[self.first : end].max())
        )
        self._close()
        return leap

    def _append(self, end: int, calls: int) -> None:
        changed = ~self.same[:calls]
        append_script(
            self.tape,
            self.script,
            (self.start, end),
            self.rows[:calls][changed],
            self.prompt[:calls][changed],
            self._bill_bytes()[:calls][changed],
        )

    def _close(self) -> None:
        """What the index learns of the last turn; its sums over a run are those of the last call."""
        session = self.session
        if "usage" not in session.setup.order.closing:
            return
        usage = self.tape.file_row(self.tape.file_usage[-1]).usage
        report = RunReport(
            usage=usage,
            last_call=usage or Usage(),
            model=session.setup.around.model or None,
            provider=session.setup.around.provider or None,
            context_tokens=session.setup.lines.window,
        )
        rules = session.setup.rules.session_index
        session.index = persist_usage(session.index, report, session.clock_ms, rules)
