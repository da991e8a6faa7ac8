"""What moment a recorded timestamp names."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.transcripts.timestamps import epoch_ms, iso_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-02", 86_400_000),
        ("1970", 0),
        ("1970-01-01T24:00:00Z", 86_400_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:00:00.5-0100", 500),
        ("1970-01-01T00:00:00.1239Z", 123),
        (5, 5),
        (5.9, 5),
    ],
)
def test_moments(text: object, expected: int) -> None:
    assert epoch_ms(text) == expected


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "1970-02-30",
        "1970-01-01T24:01:00Z",
        "1970-1-1",
        None,
        True,
        math.nan,
        1e300,
        [],
        {},
    ],
)
def test_what_names_no_moment(value: object) -> None:
    assert epoch_ms(value) is None


@given(st.text() | st.floats() | st.integers())
def test_any_value_is_a_moment_or_none(value: object) -> None:
    assert isinstance(epoch_ms(value), int | None)


def test_a_moment_is_written_as_the_runtime_writes_it():
    assert iso_text(1_796_086_744_423.9) == "2026-12-01T00:59:04.423Z"


@given(st.integers(0, 4_000_000_000_000))
def test_a_written_moment_is_read_back(moment):
    assert epoch_ms(iso_text(moment)) == moment
