"""Cache-TTL pruning of a recording's contexts by prefix sums: what ``prune_call`` does, by arrays.

A context is the rows ``[start, place)`` of a branch, after a summary or not. Where a row's text decides
(wide characters in a result that is trimmed) a callback is asked; nothing else loads text. Results that
a what-if cut for good are taken as evenly wide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np

from compaction_app.engine.calibration import Floats
from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.cache_ttl_decision import (
    PassFigures,
    idle_decision,
    pass_decision,
)
from compaction_app.engine.replay_prunable import Prunable, is_long, sums, trimmed_length
from sessions_app.tokens.pruner_chars import OTHER_MESSAGE_CHARS
from sessions_app.transcripts.columns import UNKNOWN, Ints


class Pruned(NamedTuple):
    """What pruning makes of one call's context. Characters are those pruning counts.

    ``reason`` is the one of ``prune_call``. The prunable results are numbered; of those from ``first``
    to ``end`` the first ``cleared`` were replaced, the others trimmed where they are long. ``chars`` is
    ``UNKNOWN`` where the context was not measured.
    """

    reason: str
    chars: int = UNKNOWN
    chars_after: int = UNKNOWN
    prunable_chars: int = 0
    cutoff: int = 0
    first: int = 0
    end: int = 0
    cleared: int = 0
    changed: int = 0

    @property
    def fired(self) -> bool:
        return bool(self.changed or self.cleared)


class PruningRows:
    """Prefix sums over the prunable rows of a branch as they stand now.

    ``gone`` are the characters that each row lost for good; ``weights`` what a row weighs in a prompt.
    """

    def __init__(self, fixed: Prunable, gone: Ints, weights: Floats) -> None:
        self.fixed = fixed
        lost = np.rint(gone * fixed.shrinking).astype(np.int64)
        sizes = np.maximum(fixed.sizes - lost, 0)
        self._sums = sums(sizes)
        at, placeholder = fixed.results, fixed.placeholder_chars
        before, views, trim = sizes[at], fixed.views - gone[at], fixed.settings.soft_trim
        long = is_long(views, trim)
        short = np.where(
            long, trimmed_length(views, trim), np.where(fixed.has_image, views, before)
        )
        short = np.where((fixed.by_text != UNKNOWN) & (gone[at] == 0), fixed.by_text, short)
        self._before, self._short = before, short
        self._changes = sums(long | fixed.has_image)
        self._trim_gain, self._clear_gain = sums(before - short), sums(before - placeholder)
        self._last_gain, self._short_sums = sums(short - placeholder), sums(short)
        self._most_gained: dict[int, list[int]] = {}
        per_char = weights[at] / np.maximum(before, 1)
        self._trim_weight = np.append(0.0, np.cumsum(per_char * (before - short))).data
        self._clear_weight = np.append(0.0, np.cumsum(per_char * (before - placeholder))).data

    def call(self, start: int, place: int, has_summary: bool) -> Pruned:
        """What pruning makes of the context, whatever the time."""
        fixed, settings, window = self.fixed, self.fixed.settings, self.fixed.window_chars
        if window <= 0:
            return Pruned("no_window")
        cutoff = self._cutoff(start, place)
        if cutoff is None:
            return Pruned("too_few_answers")
        if fixed.malformed[place] > fixed.malformed[start]:
            return Pruned("malformed_message")
        total = self._sums[place] - self._sums[start] + OTHER_MESSAGE_CHARS * has_summary
        if total / window < settings.soft_trim_ratio:
            return Pruned("below_soft_trim_ratio", total, total, cutoff=cutoff)
        first = fixed.results_before[min(fixed.next_user[start], place)]
        end = max(fixed.results_before[cutoff], first)
        after = total - (self._trim_gain[end] - self._trim_gain[first])
        prunable = cleared = 0
        if not settings.hard_clear.enabled:
            reason = "hard_clear_off"
        elif after / window < settings.hard_clear_ratio:
            reason = "below_hard_clear_ratio"
        else:
            prunable = self._short_sums[end] - self._short_sums[first]
            reason = "too_little_to_clear"
            if prunable >= settings.min_prunable_tool_chars:
                cleared = self._clear(after, first, end)
                reason = "cleared_all" if cleared == end - first else "cleared_enough"
        after -= self._last_gain[first + cleared] - self._last_gain[first]
        changed = self._changes[end] - self._changes[first]
        return Pruned(reason, total, after, prunable, cutoff, first, end, cleared, changed)

    def _cutoff(self, start: int, place: int) -> int | None:
        """Where the protected tail begins; none with too few answers."""
        fixed, keep = self.fixed, self.fixed.settings.keep_last_assistants
        if keep <= 0:
            return place
        before = fixed.answers_before[place]
        return None if before - fixed.answers_before[start] < keep else fixed.answers[before - keep]

    def _clear(self, chars: int, first: int, end: int) -> int:
        """How many results go, oldest first, until the ratio is below the limit."""
        window, limit = self.fixed.window_chars, self.fixed.settings.hard_clear_ratio
        if first not in self._most_gained:
            gains = np.asarray(self._last_gain)[first:] - self._last_gain[first]
            # A short result may grow, so the first time the gain suffices is where its highest does.
            self._most_gained[first] = np.maximum.accumulate(gains).tolist()
        gained = self._most_gained[first]
        return bisect_left(gained, True, 0, end - first, key=lambda g: (chars - g) / window < limit)

    def trimmed_chars(self, done: Pruned) -> int:
        """Characters that the results lost that were trimmed and not cleared."""
        return self._trim_gain[done.end] - self._trim_gain[done.first + done.cleared]

    def cleared_chars(self, done: Pruned) -> int:
        """Characters that the cleared results lost, trimmed before or not."""
        return self._clear_gain[done.first + done.cleared] - self._clear_gain[done.first]

    def removed_weight(self, done: Pruned) -> float:
        """What the prompt weighs less."""
        edge = done.first + done.cleared
        trimmed = self._trim_weight[done.end] - self._trim_weight[edge]
        return float(trimmed + self._clear_weight[edge] - self._clear_weight[done.first])

    def parting_row(self, one: Pruned | None, other: Pruned | None) -> int | None:
        """The first row that two calls of one context show in different forms, none if there is none;
        a call without ``Pruned`` shows everything whole."""
        known = one or other
        if known is None:
            return None
        whole = Pruned("", first=known.first, end=known.first)
        one, other = one or whole, other or whole
        edges = (one.first + one.cleared, other.first + other.cleared)
        if edges[0] != edges[1]:
            return int(self.fixed.results[min(edges)])
        start, end = sorted((one.end, other.end))
        start = max(start, edges[0])
        at = bisect_right(self._changes, self._changes[start], start, end + 1)
        return int(self.fixed.results[at - 1]) if at <= end else None

    def removed_by_row(self, done: Pruned) -> dict[int, int]:
        """For each changed row: characters removed (below 0 where a result grew)."""
        changes = np.diff(self._changes)
        removed = {}
        for number in range(done.first, done.end):
            is_cleared = number < done.first + done.cleared
            if is_cleared or changes[number]:
                after = self.fixed.placeholder_chars if is_cleared else self._short[number]
                removed[int(self.fixed.results[number])] = int(self._before[number] - after)
        return removed


def decision_of(done: Pruned, prunable: Prunable) -> Decision:
    """The decision with its arithmetic."""
    settings, rule_set = prunable.settings, prunable.rules.id
    if done.chars == UNKNOWN:
        return idle_decision(done.reason, rule_set, {})
    figures = PassFigures(
        window_chars=prunable.window_chars,
        chars=done.chars,
        chars_after=done.chars_after,
        prunable_chars=done.prunable_chars,
        protected_from=done.cutoff,
        trimmed=done.changed,
        cleared=done.cleared,
    )
    return pass_decision(figures, settings, done.reason, rule_set)
