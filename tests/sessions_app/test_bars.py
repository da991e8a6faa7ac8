"""Stacked bars: as high as their numbers, under the calls they stand for."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.drawing.bars import MOST_BARS, Bars, stacked_bars

NAMES = ("low", "high")


def heights(bars: Bars, layer: int) -> list[float]:
    """How high each bar of a layer is, in plot units."""
    found = re.findall(r"M[-\d.]+ ([-\d.]+)h[\d.]+V([-\d.]+)h", bars.layers[layer].path)
    return [float(base) - float(top) for base, top in found]


def test_bars_are_stacked_in_proportion() -> None:
    bars = stacked_bars(NAMES, np.array([[0, 10, 30], [0, 20, 0]]))
    assert [layer.total for layer in bars.layers] == [40, 20]
    low, high = heights(bars, 0), heights(bars, 1)
    assert len(low) == 2 and len(high) == 1
    assert abs(low[1] / low[0] - 3) < 0.01
    assert abs(high[0] / low[0] - 2) < 0.01


def test_a_bar_stands_where_the_chart_has_its_call() -> None:
    bars = stacked_bars(NAMES, np.array([[5, 0, 0, 0, 5], [0, 0, 0, 0, 0]]))
    middles = [
        float(x) + float(width) / 2
        for x, width in re.findall(r"M([-\d.]+) [-\d.]+h([\d.]+)", bars.layers[0].path)
    ]
    assert middles == [0, 1000]


def test_only_the_range_that_is_shown_counts() -> None:
    parts = np.array([[1, 2, 4, 8], [0, 0, 0, 0]])
    bars = stacked_bars(NAMES, parts, (2, 3))
    assert (bars.first, bars.last, bars.layers[0].total) == (2, 3, 6)


def test_nothing_pruned_draws_nothing() -> None:
    for calls in (0, 1, 7):
        bars = stacked_bars(NAMES, np.zeros((2, calls), np.int64))
        assert [layer.path for layer in bars.layers] == ["", ""]


def test_what_grew_is_counted_and_not_drawn() -> None:
    bars = stacked_bars(NAMES, np.array([[-5, 10], [0, 0]]))
    assert bars.layers[0].total == 5
    assert len(heights(bars, 0)) == 1


@given(st.integers(1, 5_000), st.integers(0, 4_999))
def test_a_long_session_keeps_its_highest_bar(calls: int, place: int) -> None:
    parts = np.ones((2, calls), np.int64)
    parts[0, place % calls] = 500
    bars = stacked_bars(NAMES, parts)
    drawn = heights(bars, 0)
    assert len(drawn) <= MOST_BARS
    assert max(drawn) > 900
