"""The branch of a recording as the what-if sees it: prefix sums, cut points, cut tool results.

What the recording's own policy caused (compactions, flush turns, replies of the gateway, typed
``/compact``) is stripped: it weighs nothing and nothing is cut there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.calibration import Floats, Weights
from compaction_app.engine.last_usage import RECENT_BYTES, RECENT_MESSAGES
from compaction_app.engine.stripped import stripped_rows
from sessions_app.tokens.pressure import CHARS_PER_TOKEN, RESULT_CHARS_PER_TOKEN
from sessions_app.transcripts.columns import (
    ASSISTANT,
    BASH,
    BRANCH_SUMMARY,
    CUSTOM_MESSAGE,
    INNER,
    OTHER,
    TOOL_RESULT,
    USER,
    Ints,
)
from sessions_app.transcripts.timeline import Timeline

BLOCK_ROWS: Final = 4096
"""So many rows more are summed at a time; a cut brings no more than those up to date."""

_CUT_KINDS: Final = (USER, ASSISTANT, BASH, INNER, CUSTOM_MESSAGE, BRANCH_SUMMARY)
_FREE_KINDS: Final = (CUSTOM_MESSAGE, BRANCH_SUMMARY)


class ReplayRows:
    """Arrays over the rows of a branch. Cutting tool results changes them for the rest of a replay."""

    def __init__(self, grown: Timeline, weights: Weights) -> None:
        rows = grown.columns
        self.kind: Ints = rows.kind
        self.stripped: NDArray[np.bool_] = stripped_rows(rows)
        kept = ~self.stripped
        self.tokens: Ints = rows.tokens * kept
        self.result_chars: Ints = rows.result_chars * kept
        self.density = weights.calibration.density
        self.weights: Floats = weights.rows * kept
        self._pressure: Ints = rows.pressure * kept
        # Only messages count towards keepRecentTokens (spec compaction 2).
        self._counts = ~np.isin(self.kind, _FREE_KINDS)
        self.weight_sums: Floats = np.zeros(len(kept) + 1)
        self.token_sums, self.pressure_sums, self._counted_sums = np.zeros(
            (3, len(kept) + 1), np.int64
        )
        self._byte_sums = np.cumsum(np.concatenate(([0], np.maximum(rows.bytes, 0) * kept)))
        self.version = self._ready = 0
        self.shortened: list[tuple[int, int]] = []
        """Where results were cut for good: before which row that happened, and the first row cut."""
        is_cut = np.isin(self.kind, _CUT_KINDS) & kept
        self._next_cut = _next_true(is_cut)
        self._is_message = (self.kind > OTHER) & (self.kind < CUSTOM_MESSAGE) & kept

    def _sum(self, first: int, end: int) -> None:
        """Bring the sums up to date from the row ``first`` on, up to ``end``."""
        _sum_from(self.weight_sums, self.weights, first, end)
        _sum_from(self.token_sums, self.tokens, first, end)
        _sum_from(self.pressure_sums, self._pressure, first, end)
        counted = self.tokens[first:end] * self._counts[first:end]
        _sum_from(self._counted_sums, counted, first, end, first)

    def _reach(self, end: int) -> None:
        """Sum up to ``end``: what lies behind is summed once it is asked for, whatever was cut until then."""
        if end > self._ready:
            ready = min(max(end, self._ready + BLOCK_ROWS), len(self.kind))
            self._sum(self._ready, ready)
            self._ready = ready

    def weight(self, start: int, end: int) -> float:
        """Billed tokens of the rows ``start`` to ``end``."""
        self._reach(end)
        return float(self.weight_sums[end] - self.weight_sums[start])

    def weights_to(self, start: int, places: Ints) -> Floats:
        """Billed tokens of the rows from ``start`` to each place."""
        self._reach(int(places.max()) if len(places) else 0)
        return np.asarray(self.weight_sums[places] - self.weight_sums[start], np.float64)

    def estimate(self, start: int, end: int) -> int:
        """The runtime's message estimate of the rows."""
        self._reach(end)
        return int(self.token_sums[end] - self.token_sums[start])

    def pressure(self, start: int, end: int) -> int:
        """Token pressure of the rows, before the safety margin."""
        self._reach(end)
        return int(self.pressure_sums[end] - self.pressure_sums[start])

    def bytes_to(self, end: int) -> int:
        """Bytes of the lines of all rows up to ``end``: a file only grows."""
        return int(self._byte_sums[end])

    def recent(self, end: int) -> int:
        """The first of the last messages before ``end`` by which the runtime estimates a transcript."""
        first = int(np.searchsorted(self._byte_sums, self._byte_sums[end] - RECENT_BYTES))
        messages = first + np.flatnonzero(self._is_message[first:end])
        return int(messages[-RECENT_MESSAGES:][0]) if len(messages) else end

    def first_within(self, start: int, end: int, room: float) -> int:
        """The first row from which on the rows up to ``end`` press no more than ``room`` tokens."""
        self._reach(end)
        sums = self.pressure_sums[start : end + 1]
        first = start + int(np.searchsorted(sums, self.pressure_sums[end] - room, side="left"))
        return min(first, end)

    def cut(self, start: int, end: int, keep: float) -> int:
        """The first kept row of a compaction of ``[start, end)``; ``start`` when all is kept.

        The same answer as ``compaction.cut.find_cut_point``, by binary search.
        """
        self._reach(end)
        first = int(self._next_cut[start]) if start < len(self._next_cut) else end
        if first >= end:
            return start
        sums = self._counted_sums
        valid = first
        if sums[end] - sums[start] >= keep:
            # The last row from which on at least `keep` tokens are collected.
            reached = int(np.searchsorted(sums[: end + 1], sums[end] - keep, side="right")) - 1
            behind = int(self._next_cut[reached])
            valid = behind if behind < end else first
        while valid > start and not self._is_message[valid - 1]:
            valid -= 1
        return valid

    def reducible(self, start: int, end: int, single: float, least: int) -> float:
        """Characters that cutting tool results would save: the oversized ones, then all together."""
        lengths = self._results(start, end)
        after = np.minimum(lengths, single)
        saved = float((lengths - after).sum())
        if len(after) >= 2 and after.sum() > single:
            room = np.maximum(after - least, 0).sum()
            saved += float(min(room, after.sum() - single))
        return saved

    def cut_results(
        self, start: int, end: int, single: float, least: int, newest_first: bool = False
    ) -> int:
        """Cut tool results for good: the oversized ones, then one after another until the rest fits.

        Returns:
            Characters removed.
        """
        places = start + np.flatnonzero(
            (self.kind[start:end] == TOOL_RESULT) & (self.result_chars[start:end] > 0)
        )
        if newest_first:
            places = places[::-1]
        lengths = self.result_chars[places]
        targets = np.minimum(lengths, int(single))
        need = int(targets.sum()) - int(single)
        if len(targets) >= 2 and need > 0:
            room = np.maximum(targets - least, 0)
            before = np.cumsum(room) - room
            targets -= np.clip(need - before, 0, room)
        removed = int((lengths - targets).sum())
        if removed:
            self._shorten(places, lengths, targets)
            self.version += 1
            self.shortened.append((end, int(places[lengths != targets].min())))
            self._sum(int(places.min()), self._ready)
        return removed

    def _results(self, start: int, end: int) -> Ints:
        chars = self.result_chars[start:end]
        return np.asarray(chars[(self.kind[start:end] == TOOL_RESULT) & (chars > 0)], np.int64)

    def _shorten(self, places: Ints, lengths: Ints, targets: Ints) -> None:
        """A result of one text without CJK weighs exactly what its new text does; others nearly."""
        before = self.tokens[places]
        gone = np.minimum(
            _tokens(lengths, CHARS_PER_TOKEN) - _tokens(targets, CHARS_PER_TOKEN), before
        )
        self.result_chars[places] = targets
        self.tokens[places] -= gone
        self.weights[places] *= 1 - gone / np.maximum(before, 1)
        pressed = _tokens(lengths, RESULT_CHARS_PER_TOKEN) - _tokens(
            targets, RESULT_CHARS_PER_TOKEN
        )
        self._pressure[places] -= np.minimum(pressed, self._pressure[places])


def _sum_from(
    sums: NDArray[Any], values: NDArray[Any], first: int, end: int, offset: int = 0
) -> None:
    """Running sums in place; each is the one before plus a value, wherever the summing starts.

    ``values`` begin with the row ``offset``.
    """
    if first < end:
        rest = values[first - offset : end - offset].copy()
        rest[0] += sums[first]
        np.cumsum(rest, out=sums[first + 1 : end + 1])


def _tokens(chars: Ints, chars_per_token: int) -> Ints:
    return -(-chars // chars_per_token)


def _next_true(flags: NDArray[np.bool_]) -> Ints:
    """For each place the next one at or behind it that is true; the length where there is none."""
    places = np.where(flags, np.arange(len(flags)), len(flags))
    return np.minimum.accumulate(places[::-1])[::-1] if len(places) else places
