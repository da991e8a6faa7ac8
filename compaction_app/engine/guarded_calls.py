"""At which calls of a what-if would the guard before a model call act? Counted from arrays, no text read.

The what-if itself does not carry the guard out: what was recorded went through the runtime's own. The
contexts are those of the what-if (its compactions, the recording's messages); their size is estimated as
the guard does, from the stored numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from compaction_app.engine.pruning.guard import GuardLimits, GuardRules
from compaction_app.engine.replay import Replay
from compaction_app.engine.stripped import stripped_rows
from sessions_app.tokens.loop_chars import OTHER_MESSAGE_CHARS, RESULT_WEIGHT
from sessions_app.tokens.pressure import CHARS_PER_TOKEN
from sessions_app.transcripts.columns import COMPACTION, TOOL_RESULT, UNKNOWN, Columns, Ints
from sessions_app.transcripts.timeline import Timeline

NONE: Final = 0


@dataclass(frozen=True, slots=True)
class GuardedCalls:
    """How many calls have a result in view that is cut, and how many are over the limit all together
    after that. ``first_cut`` and ``first_over`` are call numbers from 1, ``NONE`` without one;
    ``largest`` is the largest context after single cuts, in estimated characters."""

    limits: GuardLimits
    cut: int
    first_cut: int
    over: int
    first_over: int
    largest: int


def guarded_calls(
    grown: Timeline, done: Replay, limits: GuardLimits, guard: GuardRules
) -> GuardedCalls:
    """Count the calls of a what-if at which the guard acts."""
    rows = grown.columns
    sizes = loop_sizes(rows, guard) * ~stripped_rows(rows)
    is_cut = (rows.kind == TOOL_RESULT) & (sizes > limits.single_chars)
    sizes = np.where(is_cut, np.minimum(sizes, _cut_size(limits, guard)), sizes)
    starts = _starts(grown, done)
    sent = done.prompt != UNKNOWN
    totals = _between(sizes, starts, grown.place) + OTHER_MESSAGE_CHARS * (starts > 0)
    over = (totals > limits.total_chars) & sent
    cut = (_between(is_cut.astype(np.int64), starts, grown.place) > 0) & sent
    return GuardedCalls(
        limits=limits,
        cut=int(cut.sum()),
        first_cut=_first(cut),
        over=int(over.sum()),
        first_over=_first(over),
        largest=int(totals[sent].max()) if sent.any() else 0,
    )


def loop_sizes(rows: Columns, guard: GuardRules) -> Ints:
    """What each row weighs to the guard, estimated to a few characters where texts are narrow."""
    images = rows.images * guard.cut.chars.image_chars
    results = RESULT_WEIGHT * (rows.result_chars + images)
    known = np.where(rows.kind == TOOL_RESULT, results, CHARS_PER_TOKEN * rows.tokens)
    return np.asarray(np.where(rows.kind == COMPACTION, 0, known), np.int64)


def _cut_size(limits: GuardLimits, guard: GuardRules) -> float:
    """What a cut result weighs: the limit, and twice that where the version compares text with it."""
    halves = guard.cut.counted_notice is not None or guard.cut.truncation is not None
    return limits.single_chars if halves else RESULT_WEIGHT * limits.single_chars


def _starts(grown: Timeline, done: Replay) -> Ints:
    """The row with which each call's context begins."""
    ends = np.array([cut.end for cut in done.cuts], np.int64)
    kept = np.array([0, *(cut.kept for cut in done.cuts)], np.int64)
    return np.asarray(kept[np.searchsorted(ends, grown.place, side="right")])


def _between(values: Ints, starts: Ints, ends: Ints) -> Ints:
    sums = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(sums[ends] - sums[starts], np.int64)


def _first(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int(flags.argmax()) + 1 if flags.any() else NONE
