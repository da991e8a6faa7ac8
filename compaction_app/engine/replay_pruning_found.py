"""What a what-if found out about cache-TTL pruning, call by call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.cache_ttl_decision import idle_decision
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.replay_prunable import Prunable
from compaction_app.engine.replay_pruning import Pruned, PruningRows, decision_of
from compaction_app.engine.replay_remembered import RememberedForms, Shown
from sessions_app.transcripts.columns import UNKNOWN, Ints


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
    forms: RememberedForms | None = None
    shown: Mapping[int, Shown] = field(default_factory=dict)

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
        if self.forms is not None:
            seen = self.shown.get(call)
            return self.forms.removed_by_row(seen) if seen else {}
        looked_at, prunable = self.measured.get(call), self.prunable
        if looked_at is None or prunable is None:
            return {}
        return _rows_with(prunable, looked_at.cut).removed_by_row(looked_at.done)

    def parting_rows(self, sent: Ints) -> dict[int, int]:
        """For each of the ``sent`` calls (by its number among them) that shows results in other forms
        than the one before: the first row that it shows otherwise."""
        if self.prunable is None or not self.fired.any():
            return {}
        if self.forms is not None:
            return self._changed_forms(self.forms, sent)
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

    def _changed_forms(self, forms: RememberedForms, sent: Ints) -> dict[int, int]:
        """The same where forms are remembered: they part only at a call that began a round."""
        found, before = {}, None
        for number, call in enumerate(sent.tolist()):
            seen = self.shown.get(call)
            row = forms.parting_row(before, seen) if seen else None
            if row is not None:
                found[number] = row
            before = seen
        return found

    def _pruned(self, call: int) -> Pruned | None:
        """What a call was pruned to, none where it went out whole."""
        return self.measured[call].done if call != UNKNOWN and self.fired[call] else None


def _rows_with(prunable: Prunable, cut: Cut) -> PruningRows:
    """The sums with these rows cut; weights of none."""
    gone = np.zeros(len(prunable.sizes), np.int64)
    gone[cut.rows] = cut.chars
    return PruningRows(prunable, gone, np.zeros(len(gone)))
