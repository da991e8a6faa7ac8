"""Which calls of a recording are pruned: the cache-touch time along its turns (spec pruning 12.6).

A call's time is that of the row before it. The session's mark moves at the end of each attempt that did
not compact; within an attempt the time moves with every call that prunes something. Nothing of it is
kept: the next call sends the results whole again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.pruning.cache_ttl import CHARS_PER_TOKEN
from compaction_app.engine.pruning.cache_ttl_decision import idle_decision
from compaction_app.engine.pruning.cache_ttl_settings import (
    CacheTtlSettings,
    cache_ttl_settings,
    context_pruning,
)
from compaction_app.engine.pruning.run_eligibility import run_eligibility
from compaction_app.engine.replay_events import Event
from compaction_app.engine.replay_prunable import Prunable, Trimmed, prunable_rows, trimmed_length
from compaction_app.engine.replay_pruning import Pruned, PruningRows, decision_of
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.transcripts.columns import UNKNOWN, Ints
from sessions_app.transcripts.timeline import Timeline

NOT_SENT: Final = "not_sent"


@dataclass(frozen=True, slots=True)
class Cut:
    """Which rows the what-if had cut for good when a call was pruned, and by how many characters."""

    rows: Ints
    chars: Ints


@dataclass(frozen=True, slots=True)
class Measured:
    """A call whose context pruning looked at."""

    done: Pruned
    cut: Cut


@dataclass(frozen=True, slots=True)
class PrunedCalls:
    """Per call of the recording, in order. Characters as pruning counts them; ``gap_ms`` is the time
    since the cache was last touched, ``chars`` the size of the context, both ``UNKNOWN`` where pruning
    did not come to that. ``reason`` is the code of ``prune_call``, ``not_sent`` for calls that the
    what-if leaves out; ``window_chars`` is what ratios are of. ``is_exact`` is false where the rule set
    counts characters otherwise than the stored numbers do.
    """

    settings: CacheTtlSettings | None
    eligibility: Decision
    window_chars: int
    reason: tuple[str, ...]
    fired: NDArray[np.bool_]
    trimmed_chars: Ints
    cleared_chars: Ints
    gap_ms: Ints
    chars: Ints
    is_exact: bool
    rule_set: str
    measured: Mapping[int, Measured]
    prunable: Prunable | None

    @property
    def calls(self) -> int:
        """How many calls were pruned."""
        return int(self.fired.sum())

    def decision(self, call: int) -> Decision:
        """Why the call (from 0) was pruned or not, with its arithmetic; made when asked for."""
        looked_at = self.measured.get(call)
        if looked_at is not None and self.prunable is not None:
            return decision_of(looked_at.done, self.prunable)
        ttl = self.settings.ttl_ms if self.settings else None
        gap = int(self.gap_ms[call])
        inputs = {"sinceCacheTouch": None if gap == UNKNOWN else gap, "ttl": ttl}
        return idle_decision(self.reason[call], self.rule_set, inputs)

    def removed_by_row(self, call: int) -> Mapping[int, int]:
        """For each row that the call (from 0) saw changed: characters removed; found when asked for."""
        looked_at, prunable = self.measured.get(call), self.prunable
        if looked_at is None or prunable is None:
            return {}
        return _rows_with(prunable, looked_at.cut).removed_by_row(looked_at.done)

    def parting_rows(self, sent: Ints) -> dict[int, int]:
        """For each of the ``sent`` calls (by its number among them) that shows results in other forms
        than the one before: the first row that it shows otherwise."""
        if self.prunable is None or not self.fired.any():
            return {}
        fired = self.fired[sent]
        near = np.flatnonzero(fired | np.append(False, fired[:-1]))
        found: dict[int, int] = {}
        cut, rows = None, None
        for number in near.tolist():
            call, before = int(sent[number]), int(sent[number - 1]) if number else UNKNOWN
            one, other = self._pruned(before), self._pruned(call)
            looked_at = self.measured[call if other else before]
            if rows is None or cut is not looked_at.cut:
                cut, rows = looked_at.cut, _rows_with(self.prunable, looked_at.cut)
            row = rows.parting_row(one, other)
            if row is not None:
                found[number] = row
        return found

    def _pruned(self, call: int) -> Pruned | None:
        """What a call was pruned to, none where it went out whole."""
        return self.measured[call].done if call != UNKNOWN and self.fired[call] else None


def _rows_with(prunable: Prunable, cut: Cut) -> PruningRows:
    """The sums with these rows cut; weights of none."""
    gone = np.zeros(len(prunable.sizes), np.int64)
    gone[cut.rows] = cut.chars
    return PruningRows(prunable, gone, np.zeros(len(gone)))


class CallPruning:
    """Walks the calls of a what-if. Calls belong to attempts; an attempt may end without a call."""

    def __init__(
        self,
        grown: Timeline,
        rows: ReplayRows,
        policy: Policy,
        around: Circumstances,
        lines: Lines,
        trimmed: Trimmed | None = None,
    ) -> None:
        self._grown, self._rows, self._rules, self._window = grown, rows, around.rules, lines.window
        self._settings = settings_of(policy, around)
        self._eligibility = run_eligibility(around)
        self._trimmed = trimmed or self._nearly_trimmed
        self._ttl_ms = self._settings.ttl_ms if self._settings else 0
        self._idle = self._why_idle(around)
        calls = grown.calls
        self._reason = [NOT_SENT] * calls
        self._measured: dict[int, Measured] = {}
        self._fired = [False] * calls
        self._trimmed_chars, self._cleared_chars = [0] * calls, [0] * calls
        self._gap, self._chars = [UNKNOWN] * calls, [UNKNOWN] * calls
        self._at = [] if self._idle else known_times(grown.columns.at_ms).tolist()
        self._mark = self._touch = 0
        self._compacted = False
        self._prunable: Prunable | None = None
        self._cut = Cut(np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._sums: PruningRows | None = None
        self._seen = 0

    def _why_idle(self, around: Circumstances) -> str:
        if around.path == "cli":
            return "cli_backend"
        if self._settings is None:
            return "off"
        if not self._eligibility.fired:
            return "provider_not_eligible"
        return "no_ttl" if self._settings.ttl_ms <= 0 else ""

    def begin_attempt(self) -> None:
        """The session's mark is read; what was pruned before does not count."""
        self._touch, self._compacted = self._mark, False

    def compacted(self) -> None:
        """This attempt leaves no mark."""
        self._compacted = True

    def end_attempt(self, row: int) -> None:
        """An attempt ends with the row: the mark moves unless it compacted."""
        if not self._idle and not self._compacted and row < len(self._at):
            self._mark = self._at[row]

    def attempt_without_call(self, row: int) -> None:
        """A whole attempt beside the turn's calls: a flush turn, or one that the check stopped."""
        self.begin_attempt()
        self.end_attempt(row)

    def send(self, whole: Ints, start: int, has_summary: bool, places: Ints, first: int) -> Ints:
        """The prompts of calls with the rows before ``places``, without what is pruned from each.

        ``first`` is the first call's number from 0, ``whole`` are the prompts with everything.
        """
        if self._idle:
            self._reason[first : first + len(places)] = [self._idle] * len(places)
            return whole
        removed = [
            self._call(start, place, has_summary, first + number)
            for number, place in enumerate(places.tolist())
        ]
        return whole - np.rint(removed).astype(np.int64) if any(removed) else whole

    def _call(self, start: int, place: int, has_summary: bool, call: int) -> float:
        now = self._at[max(place - 1, 0)]
        touched = self._touch
        self._fired[call] = False
        self._trimmed_chars[call] = self._cleared_chars[call] = 0
        self._gap[call] = self._chars[call] = UNKNOWN
        if not touched:
            self._reason[call] = "cache_never_touched"
            return 0.0
        self._gap[call] = now - touched
        if now - touched < self._ttl_ms:
            self._reason[call] = "ttl_not_elapsed"
            return 0.0
        rows = self._current()
        done = rows.call(start, place, has_summary)
        self._reason[call], self._chars[call] = done.reason, done.chars
        self._measured[call] = Measured(done, self._cut)
        if not done.fired:
            return 0.0
        self._touch = now
        self._fired[call] = True
        self._trimmed_chars[call] = rows.trimmed_chars(done)
        self._cleared_chars[call] = rows.cleared_chars(done)
        return rows.removed_weight(done)

    def events(self, whole: Ints, prompts: Ints, first: int, turn: int) -> list[Event]:
        """An event for each of these calls that was pruned, with its prompt before and after."""
        unit = "billed prompt tokens"
        return [
            Event(
                "prune", call + 1, turn, int(whole[number]), int(prompts[number]), 0, unit,
                self._reason[call], None,
            )
            for number, call in enumerate(range(first, first + len(prompts)))
            if self._fired[call]
        ]  # fmt: skip

    def _current(self) -> PruningRows:
        """The sums over the rows as they stand: cutting tool results for good makes new ones."""
        if self._sums is None or self._seen != self._rows.version:
            assert self._settings is not None
            columns, stripped = self._grown.columns, self._rows.stripped
            self._prunable = self._prunable or prunable_rows(
                columns, stripped, self._settings, self._rules, self._window, self._trimmed
            )
            gone = columns.result_chars * ~stripped - self._rows.result_chars
            shorter = np.flatnonzero(gone)
            self._cut = Cut(shorter, gone[shorter])
            self._seen = self._rows.version
            self._sums = PruningRows(self._prunable, gone, self._rows.weights)
        return self._sums

    def _nearly_trimmed(self, rows: Ints) -> Ints:
        """Without the texts: as wide in the parts that stay as in the whole."""
        assert self._settings is not None
        columns = self._grown.columns
        views = columns.view_chars[rows]
        share = columns.pruner_chars[rows] / np.maximum(views, 1)
        return np.rint(trimmed_length(views, self._settings.soft_trim) * share).astype(np.int64)

    def result(self) -> PrunedCalls:
        """What came of it."""
        chars = self._rules.pruning.cache_ttl.chars
        return PrunedCalls(
            settings=self._settings,
            eligibility=self._eligibility,
            window_chars=self._window * CHARS_PER_TOKEN,
            reason=tuple(self._reason),
            fired=np.array(self._fired, np.bool_),
            trimmed_chars=np.array(self._trimmed_chars, np.int64),
            cleared_chars=np.array(self._cleared_chars, np.int64),
            gap_ms=np.array(self._gap, np.int64),
            chars=np.array(self._chars, np.int64),
            is_exact=chars.weighs_signatures,
            rule_set=self._rules.id,
            measured=self._measured,
            prunable=self._prunable,
        )


def settings_of(policy: Policy, around: Circumstances) -> CacheTtlSettings | None:
    """The pruning settings of a policy; none when its mode is off."""
    config = config_with_policy(policy, around.provider, around.model)
    rules = around.rules.pruning.cache_ttl
    return cache_ttl_settings(
        context_pruning(config), rules.durations, only_basics=rules.only_basics
    )


def known_times(times: Ints) -> Ints:
    """Each row's time, else that of the row before it; 0 where none is known yet."""
    places = np.maximum.accumulate(np.where(times == UNKNOWN, -1, np.arange(len(times))))
    return np.asarray(np.where(places < 0, 0, times[places]), np.int64)
