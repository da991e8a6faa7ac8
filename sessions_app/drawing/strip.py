"""The strip below the chart: what each call was made of, stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sessions_app.drawing.growth import clamped
from sessions_app.drawing.reduce import area, reduced
from sessions_app.drawing.scale import SIZE, Scale, Tick
from sessions_app.transcripts.columns import Ints

MAX_COLUMNS = 400
"""Each layer has an upper and a lower edge, so few columns keep the page small."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One part: its name, its area, and its share of everything that was sent in the range."""

    name: str
    path: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class Strip:
    layers: tuple[Layer, ...]
    y_ticks: tuple[Tick, ...]


def composition_strip(
    names: Sequence[str], parts: Ints, span: tuple[int, int] | None = None
) -> Strip:
    """Stack ``parts`` (one row per name, one column per call) in the order given."""
    first, last = clamped(span, parts.shape[1])
    shown = parts[:, first - 1 : last]
    tops = np.cumsum(shown, axis=0)
    total = tops[-1] if len(tops) else np.zeros(0, np.int64)
    high = float(total.max()) * 1.06 if len(total) and total.max() else 10.0
    keep = reduced(total, MAX_COLUMNS)
    xs = keep / max(shown.shape[1] - 1, 1) * SIZE
    sent = int(shown.sum()) or 1
    layers = []
    below = np.zeros(len(keep))
    for name, row, top in zip(names, shown, tops, strict=True):
        above = top[keep].astype(np.float64)
        layers.append(
            Layer(
                name,
                area(xs, SIZE - below / high * SIZE, SIZE - above / high * SIZE)
                if row.any()
                else "",
                int(row.sum()),
                int(row.sum()) / sent,
            )
        )
        below = above
    return Strip(tuple(layers), tuple(Scale(0, high, flip=True).ticks(3)))
