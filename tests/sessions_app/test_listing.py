"""A row of the list, from the session alone."""

from __future__ import annotations

import pytest

from sessions_app.listing import row_of
from sessions_app.models import Session


def session(**fields: object) -> Session:
    return Session(title="x", **fields)


def test_a_session_without_calls_has_no_curve_and_no_gauge() -> None:
    row = row_of(session())
    assert (row.spark, row.fill, row.verdict) == (None, None, [])


def test_the_curve_lies_below_the_lines_it_can_reach() -> None:
    summary = {"lines": {"window": 32_000, "flush": 24_000, "none": 0}, "window": 32_000}
    row = row_of(session(spark=[1000, 20_000], summary=summary, facts={"calls": 2, "last": 20_000}))
    assert row.spark is not None
    assert [line.name for line in row.spark.lines] == ["window", "flush"]
    assert 0 < float(row.spark.lines[0].at) < float(row.spark.lines[1].at) < 1000
    assert row.spark.path.startswith("M0.0 ")
    assert row.fill is not None
    assert (row.fill.width, row.fill.level) == ("62.5", "calm")


def test_lines_far_out_of_reach_are_not_drawn() -> None:
    row = row_of(session(spark=[1000], summary={"lines": {"window": 200_000}}))
    assert row.spark is not None
    assert row.spark.lines == ()


@pytest.mark.parametrize(
    ("last", "level", "width"),
    [(0, "calm", "0.0"), (71, "warn", "71.0"), (91, "danger", "91.0"), (300, "danger", "100.0")],
)
def test_the_gauge_warns_when_the_window_fills(last: int, level: str, width: str) -> None:
    row = row_of(session(facts={"last": last}, summary={"window": 100}))
    assert row.fill is not None
    assert (row.fill.level, row.fill.width) == (level, width)


def test_an_unknown_window_is_no_empty_one() -> None:
    assert row_of(session(facts={"last": 5}, summary={"window": None})).fill is None
    assert row_of(session(facts={"last": None}, summary={"window": 100})).fill is None


def test_problems_and_missing_usage_join_the_verdict() -> None:
    said = [{"severity": "danger", "text": "overflow", "help": "h"}]
    facts = {"problems": 2, "calls": 3, "billedCalls": 0}
    row = row_of(session(facts=facts, summary={"verdict": said}))
    assert [word["text"] for word in row.verdict] == [
        "overflow",
        "2 problems in the file",
        "estimates only",
    ]
    assert said == [{"severity": "danger", "text": "overflow", "help": "h"}]
