"""Axes: where values lie in the plot, and which values to name."""

from __future__ import annotations

import math
from dataclasses import dataclass

SIZE = 1000
"""Width and height of every plot in its own units."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A named place on an axis; ``at`` in plot units, ``percent`` of the plot's side."""

    value: float
    at: float
    text: str

    @property
    def percent(self) -> str:
        return f"{self.at / SIZE * 100:.2f}%"


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis from ``low`` to ``high``; ``flip`` draws it upwards."""

    low: float
    high: float
    flip: bool = False

    def at(self, value: float) -> float:
        """The place of ``value`` in plot units."""
        span = self.high - self.low or 1
        place = (value - self.low) / span * SIZE
        return SIZE - place if self.flip else place

    def percent(self, value: float) -> str:
        """The place of ``value`` as an SVG percentage."""
        return f"{self.at(value) / SIZE * 100:.2f}%"

    def ticks(self, count: int = 5) -> list[Tick]:
        """About ``count`` round values inside the axis."""
        step = nice_step((self.high - self.low) / max(count, 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        values = [number * step for number in range(first, last + 1)]
        return [Tick(value, self.at(value), short(value)) for value in values]


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least ``rough``."""
    if rough <= 0 or not math.isfinite(rough):
        return 1
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


def short(value: float) -> str:
    """A number of tokens or calls for an axis: 950, 1.5k, 200k, 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(value) >= size * 0.99995:  # what four digits would round up to it
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
