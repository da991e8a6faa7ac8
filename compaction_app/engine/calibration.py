"""What an entry weighs in billed tokens: the provider's own figures where a session has them.

Between two billed calls the prompt grew by what lies between them; that growth is shared out among
those entries in proportion to their estimates. Elsewhere an entry weighs density times its estimate.
What no entry accounts for (system prompt, tool schemas) is the overhead. Calls of flush turns tell
nothing here: their system prompt and tools are others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.stripped import stripped_rows
from sessions_app.transcripts.columns import COMPACTION, UNKNOWN, Ints
from sessions_app.transcripts.timeline import Timeline

Floats = NDArray[np.float64]

LEAST_CALLS: Final = 5
"""Fewer billed calls give no density."""

LEAST_GROWTH_TOKENS: Final = 20
"""Smaller steps say more about rounding than about density."""


LONGEST_DIP: Final = 8
"""Calls. After a longer one the context did become smaller, and its steps tell what entries weigh."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """``density``: billed tokens per estimated token, the median over the steps between calls.

    ``low`` and ``high`` are its quartiles, ``calls`` how many billed calls it comes from, ``overhead``
    billed tokens of what is no entry, known to plus or minus ``overhead_spread`` (none: nobody knows).
    ``enough`` is false below five calls: then density is 1.
    """

    density: float
    low: float
    high: float
    overhead: float
    calls: int
    enough: bool
    overhead_spread: float | None = None

    @property
    def density_spread(self) -> float | None:
        """How far the density may be off: to its farther quartile; none without enough calls."""
        far = max(self.high - self.density, self.density - self.low)
        return far if self.enough else None


@dataclass(frozen=True, slots=True)
class Weights:
    """Billed tokens per row of the branch (compactions weigh nothing), and where they come from."""

    rows: Floats
    calibration: Calibration


def weigh(grown: Timeline) -> Weights:
    """Weights for every row of a timeline's branch."""
    rows = grown.columns
    tokens = np.where(rows.kind == COMPACTION, 0, rows.tokens).astype(np.float64)
    is_own = ~stripped_rows(rows)[grown.place]
    billed = np.flatnonzero((grown.billed_prompt != UNKNOWN) & is_own)
    if not len(billed):
        return Weights(tokens, Calibration(1, 1, 1, 0, 0, enough=False))
    billed = billed[~_dips(grown, billed)]
    place = grown.place[billed]
    prompt = grown.billed_prompt[billed].astype(np.float64)
    start, end = place[:-1], place[1:]
    estimated = _between(tokens, start, end)
    growth = prompt[1:] - prompt[:-1]
    compactions = np.searchsorted(grown.compactions.place, end) - np.searchsorted(
        grown.compactions.place, start
    )
    is_step = (compactions == 0) & (growth >= 0) & (estimated > 0)
    calibration = _calibration(growth, estimated, is_step, len(billed))
    weights = tokens * calibration.density
    scale = np.where(is_step, growth / np.maximum(estimated, 1), calibration.density)
    first, last = int(place[0]), int(place[-1])
    weights[first:last] = tokens[first:last] * np.repeat(scale, end - start)
    overhead = 0.0
    # Where the first billed call already saw a summary there is nothing to tell the overhead by.
    if not (grown.compactions.place < first).any():
        head = float(weights[:first].sum())
        overhead = max(float(prompt[0]) - head, 0.0)
        off = calibration.density_spread
        spread = None if off is None else off * float(tokens[:first].sum())
        calibration = replace(calibration, overhead_spread=spread)
        weights[:first] *= min(float(prompt[0]) / max(head, 1.0), 1.0)
    return Weights(weights, replace(calibration, overhead=overhead))


def _dips(grown: Timeline, billed: Ints) -> NDArray[np.bool_]:
    """Which billed calls tell nothing: their prompt fell for a few calls and came back.

    Pruning in view does that: its results are gone from one call and there again in the next.
    """
    prompt = grown.billed_prompt[billed]
    cycle = np.searchsorted(grown.compactions.place, grown.place[billed])
    # Prompts lifted by their cycle, so that one running maximum serves all cycles.
    lifted = prompt + cycle * (int(prompt.max()) + 1)
    is_low = lifted < np.maximum.accumulate(lifted)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_low, [False]))))
    dips = np.zeros(len(billed), np.bool_)
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        returns = end < len(billed) and cycle[end] == cycle[start]
        dips[start:end] = returns and end - start <= LONGEST_DIP
    return dips


def _calibration(growth: Floats, estimated: Floats, is_step: Ints, calls: int) -> Calibration:
    telling = is_step & (estimated >= LEAST_GROWTH_TOKENS)
    ratios = growth[telling] / estimated[telling]
    if calls < LEAST_CALLS or len(ratios) < LEAST_CALLS - 1:
        return Calibration(1, 1, 1, 0, calls, enough=False)
    low, middle, high = np.percentile(ratios, (25, 50, 75))
    return Calibration(float(middle), float(low), float(high), 0, calls, enough=True)


def _between(values: Floats, start: Ints, end: Ints) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[end] - sums[start], np.float64)
