"""The big chart: curves over model calls, the lines they are judged by, markers for events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sessions_app.drawing.reduce import path, reduced
from sessions_app.drawing.scale import SIZE, Scale, Tick, short
from sessions_app.transcripts.columns import UNKNOWN, Ints

MAX_READOUTS = 430
"""The crosshair tells every call of a short session, else one per two pixels."""

MARK_GAP = 7
"""Least distance of two markers of a kind, in plot units: 6 px in a plot of 850 px."""

LABEL_GAP = 46
"""Least distance of two line names, in plot units: 16 px in a plot of 350 px."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A series to draw: one value per call, ``UNKNOWN`` where there is none.

    ``name`` is its class in the style sheet; ``title`` what people read; a curve that is not ``drawn``
    is only read out, one that is not ``told`` only drawn. A ``bridged`` curve goes straight on over values that are not there; others stop.
    """

    name: str
    title: str
    values: Ints
    drawn: bool = True
    bridged: bool = False
    told: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line to draw. ``muted`` is a line that does not act."""

    name: str
    title: str
    value: int
    muted: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """An event at a call: ``kind`` its classes, ``shape`` what is drawn, ``value`` its height,
    ``target`` where it links."""

    kind: str
    shape: str
    title: str
    call: int
    value: int
    target: str


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    name: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class DrawnRule:
    rule: Rule
    at: float
    percent: str
    label_percent: str
    value_text: str


@dataclass(frozen=True, slots=True)
class DrawnMark:
    mark: Mark
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything a template needs to write the chart; ``first`` and ``last`` are call numbers."""

    curves: tuple[DrawnCurve, ...]
    rules: tuple[DrawnRule, ...]
    marks: tuple[DrawnMark, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    first: int
    last: int
    calls: int
    readout: dict[str, object]


def growth_chart(
    curves: Sequence[Curve],
    rules: Sequence[Rule] = (),
    marks: Iterable[Mark] = (),
    span: tuple[int, int] | None = None,
) -> Chart:
    """Lay out the chart for the calls ``span[0]`` to ``span[1]`` (from 1, inclusive), else for all."""
    calls = max((len(curve.values) for curve in curves), default=0)
    first, last = clamped(span, calls)
    x = Scale(first, max(last, first + 1))
    y = Scale(0, _top(curves, rules, first, last), flip=True)
    return Chart(
        curves=tuple(_draw(curve, x, y, first, last) for curve in curves if curve.drawn),
        rules=_label(rules, y),
        marks=_spread(marks, x, y, first, last),
        x_ticks=tuple(t for t in x.ticks(8) if t.value == int(t.value)),
        y_ticks=tuple(y.ticks(5)),
        first=first,
        last=last,
        calls=calls,
        readout=_readout(curves, first, last),
    )


def clamped(span: tuple[int, int] | None, calls: int) -> tuple[int, int]:
    """A range of calls inside 1..calls, the whole one unless a sensible one is given."""
    if span is None:
        return 1, max(calls, 1)
    first = min(max(span[0], 1), max(calls, 1))
    last = min(max(span[1], first), max(calls, 1))
    return (first, last) if last > first else (1, max(calls, 1))


def _top(curves: Sequence[Curve], rules: Sequence[Rule], first: int, last: int) -> float:
    """The upper end: above every curve, and above the lines unless they lie far out of reach."""
    highest = max(
        (int(part.max()) for c in curves if c.drawn and len(part := c.values[first - 1 : last])),
        default=0,
    )
    reachable = [rule.value for rule in rules if rule.value <= max(highest * 4, 1000)]
    return max([highest, *reachable, 10]) * 1.06


def _draw(curve: Curve, x: Scale, y: Scale, first: int, last: int) -> DrawnCurve:
    """The curve's path; it stops where values are missing, unless it is bridged."""
    values = curve.values[first - 1 : last]
    known = values != UNKNOWN
    there = np.flatnonzero(known)
    keep = there[reduced(values[there])]
    missing_before = np.zeros(len(keep)) if curve.bridged else np.cumsum(~known)[keep]
    xs = (keep + first - x.low) / (x.high - x.low) * SIZE
    ys = SIZE - values[keep] / y.high * SIZE
    breaks = np.flatnonzero(np.diff(missing_before)) + 1
    pieces = zip(np.split(xs, breaks), np.split(ys, breaks), strict=True)
    return DrawnCurve(curve.name, curve.title, "".join(path(*piece) for piece in pieces))


def _spread(
    marks: Iterable[Mark], x: Scale, y: Scale, first: int, last: int
) -> tuple[DrawnMark, ...]:
    """The markers inside the range; of several of a kind that would cover each other the first."""
    drawn: list[DrawnMark] = []
    occupied: dict[str, float] = {}
    for mark in marks:
        if not first <= mark.call <= last:
            continue
        place = x.at(mark.call)
        if place - occupied.get(mark.kind, -MARK_GAP) < MARK_GAP:
            continue
        occupied[mark.kind] = place
        drawn.append(DrawnMark(mark, x.percent(mark.call), y.percent(min(mark.value, y.high))))
    return tuple(drawn)


def _label(rules: Sequence[Rule], y: Scale) -> tuple[DrawnRule, ...]:
    """Lines with their names, moved apart where they would overlap."""
    visible = sorted((rule for rule in rules if 0 <= rule.value <= y.high), key=lambda r: -r.value)
    places: list[float] = []
    for rule in visible:
        wanted = y.at(rule.value)
        places.append(max(wanted, places[-1] + LABEL_GAP) if places else max(wanted, 20))
    overflow = max(places[-1] - (SIZE - 20), 0) if places else 0
    for i in range(len(places) - 1, -1, -1):
        limit = places[i + 1] - LABEL_GAP if i + 1 < len(places) else places[i] - overflow
        places[i] = min(places[i], limit)
    return tuple(
        DrawnRule(
            rule, y.at(rule.value), y.percent(rule.value), f"{place / 10:.2f}%", short(rule.value)
        )
        for rule, place in zip(visible, places, strict=True)
    )


def _readout(curves: Sequence[Curve], first: int, last: int) -> dict[str, object]:
    """Values for the crosshair: the calls that are drawn, at most one per two pixels."""
    count = last - first + 1
    step = max(1, -(-count // MAX_READOUTS))
    places = np.arange(first, last + 1, step)
    return {
        "calls": places.tolist(),
        "curves": [
            {
                "name": curve.name,
                "title": curve.title,
                "values": [
                    None if value == UNKNOWN else value
                    for value in curve.values[places[places <= len(curve.values)] - 1].tolist()
                ],
            }
            for curve in curves
            if curve.told
        ],
    }
