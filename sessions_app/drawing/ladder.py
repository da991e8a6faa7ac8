"""The lines of a window as one picture: a bar for each unit, and where on it something acts.

Figures of different units are not comparable, so each unit has a bar of its own over the same axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.drawing.scale import SIZE, Scale, Tick

ROW_HEIGHT = 58
"""Pixels of a bar with the names of its lines."""

NAME_GAP = 0.34
"""Names of lines that are closer than this share of the picture stand on two levels."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A line to draw: ``name`` its class, ``muted`` when it does not act."""

    name: str
    title: str
    tokens: int
    muted: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class DrawnRung:
    """``anchor`` is the side on which the name hangs, ``level`` 0 or 1 its height above the bar."""

    rung: Rung
    percent: str
    anchor: str
    level: int


@dataclass(frozen=True, slots=True)
class Bar:
    """One unit: its lines, and from where on something acts (none when nothing does)."""

    unit: str
    rungs: tuple[DrawnRung, ...]
    zone_percent: str
    zone_width: str
    top: int


@dataclass(frozen=True, slots=True)
class Ladder:
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    window: int
    window_percent: str
    height: int
    level_percent: str = ""


def ladder(
    window: int, units: Sequence[tuple[str, Sequence[Rung]]], level: int | None = None
) -> Ladder:
    """Bars for the units, in their order; ``level`` is how full a session was, where there is one.

    A line beyond the window is drawn where it would be.
    """
    highest = max([window, level or 0, *(r.tokens for _, rungs in units for r in rungs)], default=0)
    scale = Scale(0, max(highest, 1) * 1.02)
    bars = tuple(
        _bar(unit, rungs, window, scale, number * ROW_HEIGHT)
        for number, (unit, rungs) in enumerate(units)
    )
    return Ladder(
        bars=bars,
        ticks=tuple(scale.ticks(5)),
        window=window,
        window_percent=scale.percent(window),
        height=len(bars) * ROW_HEIGHT,
        level_percent=scale.percent(level) if level else "",
    )


def _bar(unit: str, rungs: Sequence[Rung], window: int, scale: Scale, top: int) -> Bar:
    drawn: list[DrawnRung] = []
    for rung in sorted((r for r in rungs if r.tokens > 0), key=lambda r: r.tokens):
        place = scale.at(rung.tokens) / SIZE
        near = drawn and place - _place(drawn[-1]) < NAME_GAP and drawn[-1].level == 0
        anchor = "end" if place > 0.5 else "start"
        drawn.append(DrawnRung(rung, scale.percent(rung.tokens), anchor, 1 if near else 0))
    acting = [r.tokens for r in rungs if not r.muted and 0 < r.tokens <= window]
    start = min(acting, default=window)
    width = f"{(scale.at(window) - scale.at(start)) / SIZE * 100:.2f}%"
    return Bar(unit, tuple(drawn), scale.percent(start), width, top)


def _place(drawn: DrawnRung) -> float:
    return float(drawn.percent.rstrip("%")) / 100
