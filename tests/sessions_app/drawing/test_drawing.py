"""Charts as geometry: nothing is lost that people look for, and nothing overlaps."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.drawing.growth import (
    LABEL_GAP,
    MARK_GAP,
    Chart,
    Curve,
    Mark,
    Rule,
    clamped,
    growth_chart,
)
from sessions_app.drawing.reduce import MAX_POINTS, area, path, reduced
from sessions_app.drawing.scale import SIZE, Scale, nice_step, short
from sessions_app.drawing.strip import composition_strip
from sessions_app.transcripts.columns import UNKNOWN

VALUES = st.lists(st.integers(0, 2**40), max_size=400)


def ints(values: object) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def points(drawn: str) -> list[tuple[float, float]]:
    found = re.findall(r"(-?[\d.]+) (-?[\d.]+)", drawn)
    return [(float(x), float(y)) for x, y in found]


# Scales


@given(st.integers(-(10**6), 10**9), st.integers(1, 10**9), st.integers(1, 12), st.booleans())
def test_ticks_are_round_lie_inside_and_are_about_as_many_as_asked(
    low: int, width: int, count: int, flip: bool
) -> None:
    scale = Scale(low, low + width, flip)
    ticks = scale.ticks(count)
    step = nice_step(width / count)
    assert str(f"{step:.0e}")[0] in "125"
    assert len(ticks) <= count + 1
    for tick in ticks:
        assert -1e-3 <= tick.at <= SIZE + 1e-3
        assert abs(tick.value / step - round(tick.value / step)) < 1e-6


@pytest.mark.parametrize(
    ("rough", "step"),
    [(1, 1), (1.1, 2), (2, 2), (3, 5), (5.1, 10), (0.03, 0.05), (7e5, 1e6), (0, 1), (-3, 1)],
)
def test_steps_are_one_two_or_five(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)
    assert nice_step(float("inf")) == nice_step(float("nan")) == 1


def test_a_flipped_scale_runs_upwards() -> None:
    assert (Scale(0, 10).at(0), Scale(0, 10).at(10)) == (0, SIZE)
    assert (Scale(0, 10, flip=True).at(0), Scale(0, 10, flip=True).at(10)) == (SIZE, 0)
    assert Scale(0, 10).percent(2.5) == "25.00%"
    assert Scale(5, 5).at(5) == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (950, "950"),
        (1500, "1.5k"),
        (200_000, "200k"),
        (1_048_576, "1.049M"),
        (-2000, "-2k"),
        (999_999, "1M"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text


# Reduction


@given(VALUES, st.integers(4, 60))
def test_reduced_keeps_the_ends_and_the_extremes(values: list[int], most: int) -> None:
    places = reduced(ints(values), most)
    assert len(places) <= most
    assert (np.diff(places) > 0).all()
    if values:
        kept = ints(values)[places]
        assert (places[0], places[-1]) == (0, len(values) - 1)
        assert (kept.min(), kept.max()) == (min(values), max(values))


def test_a_peak_of_one_call_among_many_is_kept() -> None:
    values = np.full(1_000_000, 5)
    values[777_777] = 9
    values[333_333] = 1
    kept = values[reduced(values)]
    assert (kept.min(), kept.max(), len(kept) <= MAX_POINTS) == (1, 9, True)


def test_paths() -> None:
    assert path(np.array([]), np.array([])) == ""
    assert path(np.array([1.0]), np.array([2.0])) == "M1.0 2.0h2"
    assert path(np.array([0.0, 10.04]), np.array([2.0, 3.0])) == "M0.0 2.0L10.0 3.0"
    assert area(np.array([]), np.array([]), np.array([])) == ""
    two = np.array([0.0, 10.0])
    assert area(two, two * 0 + 9, two) == "M0.0 0.0L10.0 10.0L10.0 9.0L0.0 9.0Z"
    assert area(np.array([5.0]), np.array([9.0]), np.array([1.0])).endswith("Z")


# The growth chart


def chart(*values: list[int], **options: object) -> Chart:
    curves = [Curve(f"c{n}", f"Curve {n}", ints(v)) for n, v in enumerate(values)]
    return growth_chart(curves, **options)  # type: ignore[arg-type]


def test_a_chart_of_nothing_can_be_drawn() -> None:
    for empty in (
        growth_chart([]),
        chart([]),
        chart([], rules=[Rule("window", "Window", 200_000)]),
    ):
        assert (empty.calls, empty.first, empty.last) == (0, 1, 1)
        assert all(curve.path == "" for curve in empty.curves)


def test_one_call_is_a_dash() -> None:
    one = chart([500])
    assert one.curves[0].path.endswith("h2")
    assert one.readout["calls"] == [1]


def test_what_is_unknown_is_a_gap_and_never_zero() -> None:
    gaps = chart([UNKNOWN, 10, 20, UNKNOWN, UNKNOWN, 30, UNKNOWN])
    assert [len(points(p)) for p in gaps.curves[0].path.split("M")[1:]] == [2, 1]
    assert gaps.readout["curves"][0]["values"] == [None, 10, 20, None, None, 30, None]  # type: ignore[index]
    unknown = chart([UNKNOWN] * 5)
    assert unknown.curves[0].path == ""
    assert unknown.y_ticks


@given(
    st.lists(st.integers(-1, 300_000), max_size=60),
    st.lists(st.integers(-1, 300_000), max_size=60),
    st.one_of(st.none(), st.tuples(st.integers(-5, 80), st.integers(-5, 80))),
    st.lists(st.integers(-10, 400_000), max_size=8),
)
def test_everything_that_is_drawn_lies_in_the_plot(
    one: list[int], two: list[int], span: tuple[int, int] | None, lines: list[int]
) -> None:
    rules = [Rule(f"r{n}", f"Rule {n}", value) for n, value in enumerate(lines)]
    marks = [Mark("compaction", "dot", "C", n, 100_000 * n, "#") for n in range(70)]
    drawn = chart(one, two, rules=rules, marks=marks, span=span)
    for curve in drawn.curves:
        assert all(0 <= x <= SIZE and 0 <= y <= SIZE for x, y in points(curve.path))
    for mark in drawn.marks:
        assert drawn.first <= mark.mark.call <= drawn.last
        assert 0 <= float(mark.x[:-1]) <= 100
        assert 0 <= float(mark.y[:-1]) <= 100
    places = [float(rule.label_percent[:-1]) * 10 for rule in drawn.rules]
    assert all(b - a >= LABEL_GAP - 0.2 for a, b in pairwise(places))
    assert all(-0.1 <= place <= SIZE for place in places)
    for rule in drawn.rules:
        assert 0 <= rule.at <= SIZE
    values = drawn.readout["curves"]
    assert all(len(c["values"]) <= len(drawn.readout["calls"]) for c in values)  # type: ignore[arg-type, index, attr-defined]


def test_names_of_lines_that_lie_close_are_moved_apart_in_their_order() -> None:
    rules = [Rule(str(n), str(n), 100_000 + n) for n in range(6)]
    drawn = chart([100_000, 99_000], rules=rules)
    assert [rule.rule.name for rule in drawn.rules] == ["5", "4", "3", "2", "1", "0"]
    places = [float(rule.label_percent[:-1]) * 10 for rule in drawn.rules]
    assert all(b - a >= LABEL_GAP - 0.2 for a, b in pairwise(places))
    assert {rule.percent[:3] for rule in drawn.rules} == {"5.6"}  # the lines themselves stay


def test_lines_far_out_of_reach_do_not_flatten_the_curve() -> None:
    near = chart([10_000], rules=[Rule("window", "Window", 32_000)])
    assert [rule.rule.value for rule in near.rules] == [32_000]
    far = chart([10_000], rules=[Rule("window", "Window", 1_000_000)])
    assert far.rules == ()
    assert points(far.curves[0].path)[0][1] < 100


def test_a_long_session_is_drawn_with_few_points() -> None:
    values = np.random.default_rng(1).integers(0, 200_000, 100_000).tolist()
    drawn = chart(values)
    assert len(points(drawn.curves[0].path)) <= MAX_POINTS
    assert len(drawn.readout["calls"]) <= 430  # type: ignore[arg-type]
    assert len(drawn.x_ticks) <= 9


def test_a_bridged_curve_goes_on_over_what_is_not_there() -> None:
    values = ints([UNKNOWN if n % 3 == 0 else n for n in range(30_000)])
    (curve,) = growth_chart([Curve("c", "C", values, bridged=True)]).curves
    assert curve.path.count("M") == 1
    assert len(points(curve.path)) <= MAX_POINTS


def test_a_curve_that_is_not_drawn_is_read_out_all_the_same() -> None:
    curves = [Curve("a", "A", ints([5, 6])), Curve("b", "B", ints([900, 901]), drawn=False)]
    drawn = growth_chart(curves)
    assert [curve.name for curve in drawn.curves] == ["a"]
    assert points(drawn.curves[0].path)[1][1] < 600  # its height is not that of what is not drawn
    assert [curve["name"] for curve in drawn.readout["curves"]] == ["a", "b"]  # type: ignore[attr-defined]


def test_markers_of_a_kind_do_not_cover_each_other() -> None:
    marks = [Mark("flush", "dot", "F", call, 5, "#") for call in range(1, 1001)]
    marks += [Mark("compaction", "dot", "C", 2, 5, "#")]
    drawn = chart([5] * 1000, marks=marks).marks
    places = [float(mark.x[:-1]) * SIZE / 100 for mark in drawn if mark.mark.kind == "flush"]
    assert places[0] == 0
    assert all(b - a >= MARK_GAP - 0.2 for a, b in pairwise(places))
    assert len(places) > 100
    assert [mark.mark.call for mark in drawn if mark.mark.kind == "compaction"] == [2]


def test_a_range_shows_only_its_calls() -> None:
    part = chart(list(range(100, 200)), span=(11, 20))
    assert (part.first, part.last, part.calls) == (11, 20, 100)
    assert len(points(part.curves[0].path)) == 10
    assert part.readout["calls"] == list(range(11, 21))


@pytest.mark.parametrize(
    ("span", "calls", "expected"),
    [
        (None, 10, (1, 10)),
        (None, 0, (1, 1)),
        ((3, 7), 10, (3, 7)),
        ((-4, 99), 10, (1, 10)),
        ((7, 3), 10, (1, 10)),
        ((5, 5), 10, (1, 10)),
        ((50, 60), 10, (1, 10)),
        ((1, 1), 0, (1, 1)),
    ],
)
def test_a_range_is_a_sensible_one(
    span: tuple[int, int] | None, calls: int, expected: tuple[int, int]
) -> None:
    assert clamped(span, calls) == expected


# The strip


def test_layers_are_stacked_in_their_order() -> None:
    strip = composition_strip(["a", "b", "none"], ints([[1, 2], [3, 2], [0, 0]]))
    a, b, none = strip.layers
    assert (a.tokens, b.tokens, none.tokens) == (3, 5, 0)
    assert (a.share, b.share, none.share) == (3 / 8, 5 / 8, 0)
    assert none.path == ""
    tops = [min(y for _, y in points(layer.path)) for layer in (a, b)]
    assert tops[1] < tops[0]


@pytest.mark.parametrize(
    "parts", [np.zeros((2, 0)), np.zeros((2, 5)), np.zeros((0, 0)), np.ones((2, 1))]
)
def test_a_strip_of_little_or_nothing_can_be_drawn(parts: object) -> None:
    names = ["a", "b"][: len(parts)]  # type: ignore[arg-type]
    strip = composition_strip(names, ints(parts))
    assert [layer.name for layer in strip.layers] == names
    assert all(not np.isnan(layer.share) for layer in strip.layers)


def test_a_long_strip_is_drawn_with_few_points() -> None:
    strip = composition_strip(["a", "b"], np.random.default_rng(1).integers(1, 99, (2, 50_000)))
    assert all(len(points(layer.path)) <= 1300 for layer in strip.layers)
