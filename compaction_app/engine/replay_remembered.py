"""Remembered forms of tool results by arrays: what ``project_pruning`` shows, without texts (spec profiles 5.6).

A result that was once shown shorter stays so in every later call, whatever the time. A new round of
pruning looks at what is not yet as short as it gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.calibration import Floats
from compaction_app.engine.replay_prunable import Prunable, is_long, trimmed_length
from compaction_app.engine.replay_pruning import Pruned
from sessions_app.tokens.pruner_chars import OTHER_MESSAGE_CHARS
from sessions_app.transcripts.columns import UNKNOWN, Ints

WHOLE: Final = 0
SOFT: Final = 1
HARD: Final = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """What one call sees of the results numbered ``first`` to ``end``: the forms, as they were then."""

    forms: NDArray[np.int8]
    first: int
    end: int


class RememberedForms:
    """The forms of a branch's prunable results; ``weights`` is what a row weighs in a prompt."""

    def __init__(self, fixed: Prunable, weights: Floats) -> None:
        self._fixed, self._rows = fixed, np.concatenate(([0], np.cumsum(fixed.sizes)))
        before, views, trim = fixed.sizes[fixed.results], fixed.views, fixed.settings.soft_trim
        long = is_long(views, trim)
        short = np.where(
            long, trimmed_length(views, trim), np.where(fixed.has_image, views, before)
        )
        self._short = np.where(fixed.by_text != UNKNOWN, fixed.by_text, short)
        self._before, self._trims = before, long | fixed.has_image
        self._per_char = weights[fixed.results] / np.maximum(before, 1)
        self._forms = np.zeros(len(before), np.int8)
        self._sum(0)

    def _sum(self, first: int) -> None:
        """Bring the running sums up to date from one result on."""
        sizes = self._sizes(self._forms)
        gone = self._before - sizes
        by_form = (
            gone * (self._forms == SOFT),
            gone * (self._forms == HARD),
            gone * self._per_char,
        )
        if first == 0:
            self._trimmed, self._cleared, self._weight = np.zeros((3, len(gone) + 1))
        for sums, values in zip((self._trimmed, self._cleared, self._weight), by_form, strict=True):
            sums[first + 1 :] = sums[first] + np.cumsum(values[first:])

    def _sizes(self, forms: NDArray[np.int8]) -> Ints:
        shorter = np.where(forms == SOFT, self._short, self._fixed.placeholder_chars)
        return np.where(forms == WHOLE, self._before, shorter)

    def shown(self, start: int, place: int) -> Shown:
        """What a call with the rows ``[start, place)`` sees."""
        first, end = (self._fixed.results_before[at] for at in (start, place))
        return Shown(self._forms, first, max(end, first))

    def removed_weight(self, shown: Shown) -> float:
        """What the prompt weighs less now."""
        return float(self._weight[shown.end] - self._weight[shown.first])

    def removed_chars(self, shown: Shown) -> tuple[int, int]:
        """Characters that a call does not see of results that are trimmed now, and of cleared ones."""
        trimmed, cleared = (
            int(sums[shown.end] - sums[shown.first]) for sums in (self._trimmed, self._cleared)
        )
        return trimmed, cleared

    def removed_by_row(self, shown: Shown) -> Mapping[int, int]:
        """For each row in another form: characters removed (below 0 where a result grew)."""
        gone = self._before - self._sizes(shown.forms)
        numbers = shown.first + np.flatnonzero(shown.forms[shown.first : shown.end])
        return {int(self._fixed.results[n]): int(gone[n]) for n in numbers.tolist()}

    def parting_row(self, one: Shown | None, other: Shown) -> int | None:
        """The first row that ``other`` shows in another form than ``one``, of those that both see; without
        ``one`` every result is whole."""
        if one is None:
            changed = np.flatnonzero(other.forms[other.first : other.end])
            return int(self._fixed.results[other.first + changed[0]]) if len(changed) else None
        if one.forms is other.forms:
            return None
        first, end = max(one.first, other.first), min(one.end, other.end)
        changed = np.flatnonzero(one.forms[first:end] != other.forms[first:end])
        return int(self._fixed.results[first + changed[0]]) if len(changed) else None

    def round(self, start: int, place: int, has_summary: bool) -> Pruned:
        """Prune a new round over what the call sees; what it changes is remembered."""
        fixed, window = self._fixed, self._fixed.window_chars
        cutoff = self._cutoff(start, place)
        if cutoff is None or window <= 0:
            return Pruned("too_few_answers" if cutoff is None else "no_window")
        seen = self.shown(start, place)
        gone = sum(self.removed_chars(seen)) - OTHER_MESSAGE_CHARS * has_summary
        total = int(self._rows[place] - self._rows[start]) - gone
        if total / window < fixed.settings.soft_trim_ratio:
            return Pruned("below_soft_trim_ratio", total, total, cutoff=cutoff)
        first = fixed.results_before[min(fixed.next_user[start], place)]
        end = max(fixed.results_before[cutoff], first)
        forms = self._forms.copy()
        reason, after, prunable, cleared, trimmed = self._go(forms, first, end, total)
        if trimmed or cleared:
            self._forms = forms
            self._sum(first)
        return Pruned(reason, total, after, prunable, cutoff, first, end, cleared, trimmed)

    def _go(
        self, forms: NDArray[np.int8], first: int, end: int, total: int
    ) -> tuple[str, int, int, int, int]:
        """Change forms in place: reason, size after, prunable characters, cleared and trimmed results."""
        settings, window = self._fixed.settings, self._fixed.window_chars
        eligible = first + np.flatnonzero(forms[first:end] != HARD)
        new = eligible[(forms[eligible] == WHOLE) & self._trims[eligible]]
        forms[new] = SOFT
        total -= int((self._before[new] - self._short[new]).sum())
        if not settings.hard_clear.enabled:
            return "hard_clear_off", total, 0, 0, len(new)
        if total / window < settings.hard_clear_ratio:
            return "below_hard_clear_ratio", total, 0, 0, len(new)
        sizes = self._sizes(forms)[eligible]
        prunable = int(sizes.sum())
        if prunable < settings.min_prunable_tool_chars:
            return "too_little_to_clear", total, prunable, 0, len(new)
        left = total - np.concatenate(([0], np.cumsum(sizes - self._fixed.placeholder_chars)))
        enough = np.flatnonzero(left / window < settings.hard_clear_ratio)
        cleared = int(enough[0]) if len(enough) else len(eligible)
        forms[eligible[:cleared]] = HARD
        reason = "cleared_enough" if len(enough) and cleared < len(eligible) else "cleared_all"
        return reason, int(left[cleared]), prunable, cleared, len(new)

    def _cutoff(self, start: int, place: int) -> int | None:
        """Where the protected tail begins; none with too few answers."""
        fixed, keep = self._fixed, self._fixed.settings.keep_last_assistants
        if keep <= 0:
            return place
        before = fixed.answers_before[place]
        return None if before - fixed.answers_before[start] < keep else fixed.answers[before - keep]
