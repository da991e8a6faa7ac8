"""Which calls of a recording are pruned: the cache-touch time along its turns (spec pruning 12.6).

A call's time is that of the row before it. The session's mark moves at the end of each attempt that did
not compact; within an attempt the time moves with every call that prunes something. Nothing of it is
kept: the next call sends the results whole again.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.pruning.cache_ttl import CHARS_PER_TOKEN
from compaction_app.engine.pruning.cache_ttl_settings import (
    CacheTtlSettings,
    cache_ttl_settings,
    context_pruning,
)
from compaction_app.engine.pruning.projecting import LATER_CALL
from compaction_app.engine.pruning.run_eligibility import run_eligibility
from compaction_app.engine.replay_events import Event
from compaction_app.engine.replay_prunable import Prunable, Trimmed, prunable_rows, trimmed_length
from compaction_app.engine.replay_pruning import PruningRows
from compaction_app.engine.replay_pruning_found import Cut, Measured, PrunedCalls
from compaction_app.engine.replay_remembered import RememberedForms, Shown
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.transcripts.columns import UNKNOWN, Ints
from sessions_app.transcripts.timeline import Timeline

NOT_SENT: Final = "not_sent"


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
        self._is_first = True
        self._remembers = "remembered_results" in around.rules.turn.orders[around.path].call
        self._forms: RememberedForms | None = None
        self._shown: dict[int, Shown] = {}
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
        self._touch, self._compacted, self._is_first = self._mark, False, True

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
        if touched:
            self._gap[call] = now - touched
        waits = "cache_never_touched" if not touched else ""
        if touched and now - touched < self._ttl_ms:
            waits = "ttl_not_elapsed"
        if self._remembers:
            return self._remembered(start, place, has_summary, call, waits)
        if waits:
            self._reason[call] = waits
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

    def _remembered(
        self, start: int, place: int, has_summary: bool, call: int, waits: str
    ) -> float:
        """The call with every form that is remembered; a new round begins a run only."""
        if not waits and not self._is_first:
            waits = LATER_CALL
        self._is_first = False
        if self._forms is None:
            self._forms = RememberedForms(self._known(), self._rows.weights)
        forms, self._reason[call] = self._forms, waits
        if not waits:
            done = forms.round(start, place, has_summary)
            self._reason[call], self._chars[call] = done.reason, done.chars
            self._measured[call] = Measured(done, self._cut)
            if done.fired:
                self._touch = self._at[max(place - 1, 0)]
        seen = forms.shown(start, place)
        trimmed, cleared = forms.removed_chars(seen)
        self._trimmed_chars[call], self._cleared_chars[call] = trimmed, cleared
        self._fired[call] = bool(trimmed or cleared)
        self._shown[call] = seen
        return forms.removed_weight(seen)

    def _known(self) -> Prunable:
        """The branch as pruning looks at it."""
        assert self._settings is not None
        if self._prunable is None:
            columns, stripped = self._grown.columns, self._rows.stripped
            self._prunable = prunable_rows(
                columns, stripped, self._settings, self._rules, self._window, self._trimmed
            )
        return self._prunable

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
            prunable = self._known()
            columns, stripped = self._grown.columns, self._rows.stripped
            gone = columns.result_chars * ~stripped - self._rows.result_chars
            shorter = np.flatnonzero(gone)
            self._cut = Cut(shorter, gone[shorter])
            self._seen = self._rows.version
            self._sums = PruningRows(prunable, gone, self._rows.weights)
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
            forms=self._forms,
            shown=self._shown,
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
