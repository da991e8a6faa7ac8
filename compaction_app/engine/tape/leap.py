"""Turns in which nothing fires, taken in one step.

For a stretch of the script every number that a stage would compare is a difference of running sums; the
stretch ends before the first turn in which one of them could reach its line. That turn is then taken
stage by stage (``tape.turn``), so a line that is drawn too early here costs time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.flush import flush_line
from compaction_app.engine.flush_plan import FlushSettings, flush_settings
from compaction_app.engine.flush_run import READ_BUFFER_TOKENS
from compaction_app.engine.pruning.guard import guard_limits, guard_window
from compaction_app.engine.tape.gates import GateConstants
from compaction_app.engine.tape.row import MASK
from compaction_app.engine.tape.script import Ints, Script
from compaction_app.engine.tape.tape import COLUMNS, FIELDS, LOOP, PLACES, PRESSURE, RESULT, SENT
from compaction_app.engine.tape.work import SessionReplay
from compaction_app.engine.turn.setup import RunSetup
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars, usage_tokens
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, SAFETY_MARGIN
from sessions_app.transcripts.session_index import (
    RunReport,
    fresh_total_tokens,
    is_known_fresh,
    persist_usage,
    was_flushed_in_cycle,
)
from sessions_app.transcripts.usage import Usage, prompt_tokens

Flags = NDArray[np.bool_]
SHORTEST = 8
LONGEST = 4096
_POWERS = 10 ** np.arange(1, 18, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Leap:
    """Turns ``first`` to ``end`` of a recording, and per call of theirs what was billed and sent."""

    first: int
    end: int
    first_call: int
    prompt: Ints
    tokens: Ints


@dataclass(frozen=True, slots=True)
class LeapLimits:
    """Where the stages of a policy act; infinite where they do not."""

    preflight: float
    needs_total: bool
    flush: FlushSettings | None
    flush_line: float
    flush_near: float
    max_bytes: float
    check: float
    system: int
    inner: float
    single: float
    whole: float
    stored: float
    copy: float
    images: bool
    leaps: bool


def leap_limits(setup: RunSetup, constants: GateConstants) -> LeapLimits:
    rules, order, lines = setup.rules, setup.order, setup.lines
    window = lines.flush_window.tokens or 0
    gates = not constants.is_cli_provider
    preflight = rules.preflight if "preflight" in order.turn and gates else None
    plan = flush_settings(setup.config, rules.flush_plan) if "flush" in order.turn else None
    if not (gates and constants.can_write_workspace):
        plan = None
    line = flush_line(
        window,
        lines.floor,
        lines.soft,
        constants.server_threshold if preflight and preflight.raises_to_server_threshold else None,
    )
    own_line = flush_line(window, lines.floor, lines.soft)
    near = window - lines.floor - lines.soft
    guard = rules.pruning.guard
    limits = guard_limits(
        guard_window(lines.window, lines.window, setup.policy.max_tokens, guard), guard
    )
    calls = set(order.call)
    copies = rules.pruning.recovery.prompt_aggregate_caps
    checks = rules.routing is not None and "pre_prompt_check" in order.attempt
    chars = setup.system.chars
    shaped = rules.routing is not None and rules.routing.weighs_shape
    inner = lines.named("inner_threshold")
    prunes = setup.pruning is not None and setup.pruning_eligible and "cache_ttl_pruning" in calls
    mid_turn = setup.policy.mid_turn_precheck and rules.routing is not None
    sizes = preflight is not None and preflight.reads_size
    return LeapLimits(
        preflight=_or_inf(
            line.tokens if preflight is not None and not preflight.total_is_enough else 0
        ),
        needs_total=preflight is not None or plan is not None,
        flush=plan,
        flush_line=_or_inf(own_line.tokens),
        flush_near=near - READ_BUFFER_TOKENS if near > 0 else np.inf,
        max_bytes=constants.max_active_bytes if sizes and constants.max_active_bytes is not None else np.inf,
        check=lines.check_budget.prompt if checks else np.inf,
        system=MESSAGE_OVERHEAD + tokens_of_chars(chars) if shaped and chars else 0,
        inner=lines.window - lines.settings.reserve_tokens
        if inner.active and lines.settings.enabled and order.answered
        else np.inf,
        single=limits.single_chars if "soft_guard" in calls else np.inf,
        whole=limits.total_chars if "soft_guard" in calls else np.inf,
        stored=min(setup.stored_cap_chars, setup.tool_cap_chars),
        copy=copies * setup.tool_cap_chars if copies is not None and order.call else np.inf,
        images=bool(order.call),
        leaps=not prunes and not mid_turn and "flush_first" not in order.turn,
    )  # fmt: skip


def _or_inf(line: float) -> float:
    return line if line > 0 else np.inf


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
        return not self._joins(script.turns.first[first], script.turns.end[first])

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

    def _joins(self, start: int, end: int) -> bool:
        """Whether the first message would be joined to the one before it, here or in the script."""
        rows, group = self.script.rows, self.script.tape.group
        for place in range(start, end):
            row = rows[place]
            if row.message is not None and not row.left_out:
                return group[place] != place or self.tape.joined.joins(row)
        return False


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
        calls, tape, script = self.script.calls, self.tape, self.script
        start = tape.start
        boundary = np.uint64(tape.boundary.summary.key if tape.boundary else 0)
        inverse = pow(tape.power[start], -1, 1 << 64)
        shift = tape.power[-1] * pow(int(script.power[self.start]), -1, 1 << 64) * inverse & MASK
        before = (tape.hash[-1] - tape.hash[start]) * inverse & MASK
        said = script.hash[self.rows] - script.hash[self.start]
        said = said * np.uint64(shift) + np.uint64(before)
        same = (said == calls.said[self.calls]) & (calls.summary[self.calls] == boundary)
        recorded = calls.billed[self.calls]
        grown = self.session.density * (self.tokens - calls.context[self.calls])
        other = np.maximum(np.rint(recorded + grown), 0).astype(np.int64)
        self.same = same
        return np.where(same, recorded, other)

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
        """How much longer each answer's line is under its bill."""
        calls = self.script.calls
        digits = np.searchsorted(_POWERS, self.prompt, side="right") + 1
        whole = self.prompt + calls.output[self.calls]
        digits = digits + np.searchsorted(_POWERS, whole, side="right") + 1
        return np.where(self.same, 0, calls.bill_bytes[self.calls] + digits)

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
        leap = Leap(self.first, end, self.calls.start, self.prompt[:count], self.tokens[:count])
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
        tape, script, start = self.tape, self.script, self.start
        offset, file_offset = len(tape.rows) - start, len(tape.file) - start
        changed = ~self.same[:calls]
        bills = self.prompt[:calls][changed].tolist()
        rows = self.rows[:calls][changed]
        tape.bills.update(zip((rows + offset).tolist(), bills, strict=True))
        tape.file_bills.update(zip((rows + file_offset).tolist(), bills, strict=True))
        self._append_file(end, rows, self._bill_bytes()[:calls][changed])
        new = script.rows[start:end]
        tape.rows += new
        tape.file += new
        tape.ids += script.tape.ids[start:end]
        tape.group += (np.array(script.tape.group[start:end]) + offset).tolist()
        tape.joined = script.tape.joined_at(end)
        for field in range(FIELDS):
            _extend(tape.taken[field], script.taken[field], start, end)
            _extend(tape.whole[field], script.whole[field], start, end)
        for name in COLUMNS:
            _extend(getattr(tape, name), script.columns[name], start, end)
        factor = tape.power[-1] * pow(int(script.power[start]), -1, 1 << 64) & MASK
        said = (script.hash[start + 1 : end + 1] - script.hash[start]) * np.uint64(factor)
        tape.hash += (said + np.uint64(tape.hash[-1])).tolist()
        tape.power += (script.power[start + 1 : end + 1] * np.uint64(factor)).tolist()
        for name in PLACES:
            places = script.places[name]
            first, last = np.searchsorted(places, (start, end))
            getattr(tape, name).at += (places[first:last] + offset).tolist()

    def _append_file(self, end: int, rows: Ints, more: Ints) -> None:
        tape, script, start = self.tape, self.script, self.start
        sizes = np.diff(script.bytes[start : end + 1])
        # The first row follows another one here than in the script.
        leaf = tape.leaf_id
        sizes[0] = script.rows[start].bytes + (0 if leaf is None else js.utf8_len(leaf) - 2)
        sizes[rows - start] += more
        tape.file_bytes += (np.cumsum(sizes) + tape.file_bytes[-1]).tolist()
        _extend(tape.file_recent, script.recent, start, end)
        first, last = np.searchsorted(script.usages, (start, end))
        tape.file_usage += (script.usages[first:last] + len(tape.file) - start).tolist()

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


def _extend(column: list[int], values: Ints, start: int, end: int) -> None:
    column += (values[start + 1 : end + 1] + (column[-1] - int(values[start]))).tolist()
