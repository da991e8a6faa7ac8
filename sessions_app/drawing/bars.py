"""Stacked bars below the chart: one a call, or the highest of several where calls outnumber pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sessions_app.drawing.growth import clamped
from sessions_app.drawing.scale import SIZE, Scale, Tick
from sessions_app.transcripts.columns import Ints

MOST_BARS = 300
WIDEST = 16
"""In plot units: a bar of a short session does not become a wall."""


@dataclass(frozen=True, slots=True)
class BarLayer:
    """One part of the bars: its name, its shapes as one path, and its sum over the range."""

    name: str
    path: str
    total: int


@dataclass(frozen=True, slots=True)
class Bars:
    layers: tuple[BarLayer, ...]
    y_ticks: tuple[Tick, ...]
    first: int
    last: int
    calls_a_bar: int


def stacked_bars(names: Sequence[str], parts: Ints, span: tuple[int, int] | None = None) -> Bars:
    """Stack ``parts`` (one row per name, one column per call), the first at the bottom.

    Parts below 0 are drawn as 0. The calls lie where the growth chart has them.
    """
    first, last = clamped(span, parts.shape[1])
    shown = parts[:, first - 1 : last]
    drawn = np.maximum(shown, 0)
    group = max(1, -(-(last - first + 1) // MOST_BARS))
    places = _highest(drawn.sum(axis=0), group)
    heights = drawn[:, places]
    tops = np.cumsum(heights, axis=0)
    high = float(tops[-1].max()) * 1.06 if tops.size and tops[-1].max() > 0 else 10.0
    middle = places / max(last - first, 1) * SIZE
    half = min(SIZE / max(last - first, 1) * group * 0.4, WIDEST / 2)
    layers = [
        BarLayer(
            name,
            _boxes(middle[row > 0], half, (top - row)[row > 0] / high, top[row > 0] / high),
            int(whole.sum()),
        )
        for name, row, top, whole in zip(names, heights, tops, shown, strict=True)
    ]
    ticks = tuple(Scale(0, high, flip=True).ticks(3))
    return Bars(tuple(layers), ticks, first, last, group)


def _highest(totals: Ints, group: int) -> Ints:
    """Of each group of calls the one with the most."""
    starts = range(0, len(totals), group)
    return np.array([at + int(totals[at : at + group].argmax()) for at in starts], np.int64)


def _boxes(
    middle: np.ndarray[tuple[int], np.dtype[np.float64]],
    half: float,
    low: np.ndarray[tuple[int], np.dtype[np.float64]],
    high: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> str:
    boxes = zip(middle.tolist(), low.tolist(), high.tolist(), strict=True)
    return "".join(
        f"M{x - half:.1f} {SIZE - base * SIZE:.1f}h{2 * half:.1f}V{SIZE - top * SIZE:.1f}h{-2 * half:.1f}Z"
        for x, base, top in boxes
    )
