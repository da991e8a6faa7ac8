"""Which calls break the provider's prompt cache, and how many tokens they send again for it.

A provider keeps the prompt of a call for a while; the next call pays the full price only for what stands
behind the point where its prompt parts from the one before. A conversation that only grows parts at its
end. Earlier parts what rewrites the prefix: a compaction keeps the system prompt alone, a tool result
that is cut or pruned changes where it stands, and one that was pruned for one call only changes back
with the next (spec pruning 1 and 12); and a cache that is not used for its lifetime is gone whole.

Tokens sent again are those of the prompt behind that point, less what is new since the call before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.calibration import Weights
from compaction_app.engine.replay_context import Cut
from compaction_app.engine.replay_pruned_calls import known_times
from compaction_app.engine.replay_pruning_found import PrunedCalls
from compaction_app.engine.replay_rows import ReplayRows
from compaction_app.engine.stripped import stripped_rows
from compaction_app.engine.summary_sizes import SummarySizes
from sessions_app.transcripts.columns import UNKNOWN, Ints
from sessions_app.transcripts.timeline import Timeline

Cause = Literal["compaction", "cut_result", "pruning", "expiry", "unknown"]
CAUSES: Final[Sequence[Cause]] = ("compaction", "cut_result", "pruning", "expiry", "unknown")

DEFAULT_LIFETIME_MS: Final = 300_000
"""The default of ``contextPruning.ttl``, which stands for the cache's lifetime (spec pruning 12)."""


@dataclass(frozen=True, slots=True)
class CacheBreaks:
    """``call`` counts from 0; ``tokens`` are sent again with it because of ``cause`` (its number in
    ``CAUSES``)."""

    call: Ints
    tokens: Ints
    cause: Ints

    @property
    def resent(self) -> int:
        """Tokens of all calls together."""
        return int(self.tokens.sum())

    def by_cause(self) -> Mapping[str, int]:
        """Tokens of each cause that occurs."""
        sums = np.bincount(self.cause, self.tokens, len(CAUSES)).tolist()
        return {CAUSES[n]: int(total) for n, total in enumerate(sums) if (self.cause == n).any()}


def recorded_breaks(grown: Timeline, weights: Weights) -> CacheBreaks | None:
    """The breaks that the recording's own bills show; none where they tell of no cache.

    A call breaks the cache when it reads less from it than was in there: what the call before it read
    and wrote. Where a provider reports no writes (it caches by itself), less than was read before.
    """
    rows = grown.columns
    own = np.flatnonzero(~stripped_rows(rows)[grown.place] & (grown.billed_prompt != UNKNOWN))
    place = grown.place[own]
    read, written = _counted(rows.usage_cache_read[place]), _counted(rows.usage_cache_write[place])
    if not read.any():
        return None
    held = read + written
    broken = np.flatnonzero(read[1:] < held[:-1]) + 1
    new = _new(weights.rows, place)[broken]
    again = np.rint(grown.billed_prompt[own][broken] - new - read[broken])
    tokens = np.maximum(again, 0).astype(np.int64)
    compacted = np.searchsorted(grown.compactions.place, place)
    is_compaction = compacted[broken] > compacted[broken - 1]
    is_late = np.isin(broken, _late(grown, place, DEFAULT_LIFETIME_MS))
    why = np.where(is_late, CAUSES.index("expiry"), CAUSES.index("unknown"))
    cause = np.where(is_compaction, CAUSES.index("compaction"), why)
    return _telling(own[broken], tokens, cause)


def simulated_breaks(
    grown: Timeline,
    rows: ReplayRows,
    weights: Weights,
    prompt: Ints,
    cuts: Sequence[Cut],
    summaries: SummarySizes,
    pruning: PrunedCalls,
) -> CacheBreaks:
    """The breaks of a what-if, ``prompt`` being its calls' prompts.

    What stands before the point of a break weighs what it weighs at the end of the what-if: where its
    results are cut later, the break counts that much too large.
    """
    sent = np.flatnonzero(prompt != UNKNOWN)
    place = grown.place[sent]
    stable = np.full(len(sent), np.inf)
    cause = np.zeros(len(sent), np.int64)
    calibration = weights.calibration

    def breaks(calls: Ints, prefix: NDArray[np.float64], why: Cause) -> None:
        shorter = prefix < stable[calls]
        stable[calls[shorter]] = prefix[shorter]
        cause[calls[shorter]] = CAUSES.index(why)

    def prefix(calls: Ints, ends: Ints) -> NDArray[np.float64]:
        """What stands before the row that ends the prefix, at these calls."""
        number = compacted[calls]
        sizes = [summaries.size(n) for n in range(len(cuts))]
        starts = np.array([0, *(cut.kept for cut in cuts)])[number]
        summary = np.array([0, *sizes])[number] * calibration.density
        own = rows.weights_to(0, np.maximum(ends, starts)) - rows.weights_to(0, starts)
        return np.asarray(calibration.overhead + summary + own, np.float64)

    compacted = np.searchsorted([cut.end for cut in cuts], place, side="right")
    changed = np.flatnonzero(np.diff(compacted, prepend=0))
    breaks(changed, np.full(len(changed), calibration.overhead), "compaction")
    if rows.shortened:
        at = np.array(rows.shortened)
        calls = np.searchsorted(place, at[:, 0])
        seen = calls < len(sent)
        breaks(calls[seen], prefix(calls[seen], at[seen, 1]), "cut_result")
    parts = pruning.parting_rows(sent)
    if parts:
        calls = np.array(list(parts), np.int64)
        breaks(calls, prefix(calls, np.array(list(parts.values()), np.int64)), "pruning")
    expired = _expired(grown, sent, pruning)
    breaks(expired, np.zeros(len(expired)), "expiry")
    if len(sent):
        stable[0] = np.inf  # nothing was sent before the first call
    broken = np.flatnonzero(np.isfinite(stable))
    again = prompt[sent][broken] - _new(rows.weights, place)[broken] - stable[broken]
    tokens = np.maximum(np.rint(again), 0).astype(np.int64)
    return _telling(sent[broken], tokens, cause[broken])


def _expired(grown: Timeline, sent: Ints, pruning: PrunedCalls) -> Ints:
    """Which of the sent calls came when the cache was gone: after its lifetime, unless the recording
    shows at the same call that it was still there."""
    settings, rows, place = pruning.settings, grown.columns, grown.place[sent]
    lifetime = settings.ttl_ms if settings and settings.ttl_ms > 0 else DEFAULT_LIFETIME_MS
    late = _late(grown, place, lifetime)
    read, written = _counted(rows.usage_cache_read[place]), _counted(rows.usage_cache_write[place])
    was_there = (read[late] > 0) & (read[late] >= (read + written)[late - 1])
    return late[~was_there]


def _late(grown: Timeline, place: Ints, lifetime_ms: float) -> Ints:
    """Which calls, by their number among ``place``, were sent so long after the answer before."""
    times = known_times(grown.columns.at_ms)
    asked, answered = times[np.maximum(place - 1, 0)], times[place]
    is_late = (asked[1:] - answered[:-1] >= lifetime_ms) & (answered[:-1] > 0)
    return np.flatnonzero(is_late) + 1


def _new(weights: NDArray[np.float64], place: Ints) -> NDArray[np.float64]:
    """For each call the billed tokens of what came since the call before; 0 for the first."""
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    return np.diff(sums[place], prepend=sums[place[:1]]) if len(place) else np.zeros(0)


def _counted(tokens: Ints) -> Ints:
    return np.maximum(tokens, 0)


def _telling(call: Ints, tokens: Ints, cause: Ints) -> CacheBreaks:
    """Without breaks that cost nothing."""
    costs = tokens > 0
    return CacheBreaks(call[costs], tokens[costs], cause[costs])
