"""Long series to as many points as there are pixels, without losing a peak or a dip."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sessions_app.transcripts.columns import Ints

Floats = NDArray[np.floating[Any]]

MAX_POINTS = 900
"""As many as a plot has pixels across."""


def reduced(values: Ints, most: int = MAX_POINTS) -> Ints:
    """The places of the points to draw: of each stretch the first, lowest, highest and last.

    At most ``most`` places, ascending; all of them for a short series.
    """
    if len(values) <= most:
        return np.arange(len(values))
    size = -(-len(values) // (most // 4))
    starts = np.arange(0, len(values), size)
    # Stretches of one length, the last one filled up with its own last value.
    stretches = np.pad(values, (0, len(starts) * size - len(values)), "edge").reshape(-1, size)
    keep = np.zeros(len(values), np.bool_)
    keep[starts] = keep[np.minimum(starts + size, len(values)) - 1] = True
    keep[starts + stretches.argmin(axis=1)] = keep[starts + stretches.argmax(axis=1)] = True
    return np.flatnonzero(keep)


def path(x: Floats, y: Floats) -> str:
    """An SVG path through the points; "" without any. A single point becomes a short dash."""
    if not len(x):
        return ""
    if len(x) == 1:
        return f"M{x[0]:.1f} {y[0]:.1f}h2"
    points = zip(x.tolist(), y.tolist(), strict=True)
    return "M" + "L".join([f"{across:.1f} {down:.1f}" for across, down in points])


def area(x: Floats, low: Floats, high: Floats) -> str:
    """A closed SVG path between two curves over the same places."""
    if not len(x):
        return ""
    if len(x) == 1:
        x, low, high = np.append(x, x[0] + 2), np.append(low, low), np.append(high, high)
    there = path(x, high)
    back = path(x[::-1], low[::-1])
    return f"{there}L{back[1:]}Z"
