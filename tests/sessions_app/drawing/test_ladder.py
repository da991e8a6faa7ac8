"""The lines of a window as bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.drawing.ladder import Rung, ladder


def test_bars_of_all_units_have_one_axis() -> None:
    drawn = ladder(100, [("a", [Rung("x", "x", 50)]), ("b", [Rung("y", "y", 50)])])
    assert [bar.rungs[0].percent for bar in drawn.bars] == ["49.02%"] * 2
    assert drawn.window_percent == "98.04%"
    assert [bar.top for bar in drawn.bars] == [0, 58]


def test_the_zone_begins_at_the_lowest_line_that_acts() -> None:
    rungs = [Rung("x", "x", 40, muted=True), Rung("y", "y", 60), Rung("z", "z", 80)]
    bar = ladder(100, [("a", rungs)]).bars[0]
    assert (bar.zone_percent, bar.zone_width) == ("58.82%", "39.22%")
    idle = ladder(100, [("a", [Rung("x", "x", 40, muted=True)])]).bars[0]
    assert idle.zone_width == "0.00%"


def test_a_line_beyond_the_window_is_drawn_and_one_at_nothing_is_not() -> None:
    drawn = ladder(100, [("a", [Rung("x", "x", 200), Rung("y", "y", 0)])])
    assert [rung.percent for rung in drawn.bars[0].rungs] == ["98.04%"]
    assert drawn.bars[0].rungs[0].anchor == "end"


def test_names_that_are_near_stand_on_two_levels() -> None:
    bar = ladder(100, [("a", [Rung("x", "x", 60), Rung("y", "y", 62), Rung("z", "z", 64)])]).bars[0]
    assert [rung.level for rung in bar.rungs] == [0, 1, 0]


@given(
    st.integers(0, 2_000_000),
    st.lists(st.integers(-5, 3_000_000), max_size=5),
    st.none() | st.integers(0, 9**7),
)
def test_everything_lies_inside(window: int, places: list[int], level: int | None) -> None:
    drawn = ladder(window, [("a", [Rung("x", "x", place) for place in places])], level)
    shown = [rung.percent for rung in drawn.bars[0].rungs]
    shown += [drawn.window_percent, drawn.level_percent or "0%", drawn.bars[0].zone_percent]
    assert all(0 <= float(percent.rstrip("%")) <= 100 for percent in shown)
