"""How long is "1h30m"?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.duration import (
    DURATION_2026_4_20,
    DURATION_2026_5_28,
    BadDuration,
    parse_duration_ms,
)


@pytest.mark.parametrize(
    ("raw", "ms"),
    [
        *(("500ms", 500), (" 5M ", 300_000), ("1.5h", 5_400_000), ("30m1h", 5_400_000)),
        *(("1m1m", 120_000), ("1.0005s", 1001), ("0.4ms", 0), ("10", 10), ("1d", 86_400_000)),
    ],
)
def test_durations(raw: str, ms: int) -> None:
    assert parse_duration_ms(raw, DURATION_2026_5_28) == ms


def test_a_bare_number_takes_the_default_unit() -> None:
    assert parse_duration_ms("10", DURATION_2026_5_28, "m") == 600_000


@pytest.mark.parametrize(
    ("raw", "lead"),
    [
        ("", "Invalid duration (empty): empty value."),
        (None, "Invalid duration (empty): empty value."),
        ("5 m", 'Invalid duration: "5 m".'),
        ("1h30", 'Invalid duration: "1h30".'),
        ("-5m", 'Invalid duration (each composite segment needs a unit): "-5m".'),
        ("1h 30m", 'Invalid duration (each composite segment needs a unit): "1h 30m".'),
        ("99999999999999d", 'Invalid duration: "99999999999999d".'),
        ("٣m", 'Invalid duration: "٣m".'),
    ],
)
def test_an_error_says_what_is_wrong(raw: Any, lead: str) -> None:
    with pytest.raises(BadDuration) as error:
        parse_duration_ms(raw, DURATION_2026_5_28)
    assert str(error.value) == f"{lead} Use values like 500ms, 30s, 5m, 2h, or 1h30m."


def test_earlier_versions_say_less_and_take_larger_numbers() -> None:
    with pytest.raises(BadDuration, match=r"^invalid duration: 1h30$"):
        parse_duration_ms("1h30", DURATION_2026_4_20)
    assert parse_duration_ms("99999999999999d", DURATION_2026_4_20) == 8.639999999999914e21


@given(
    raw=st.text(max_size=12) | st.from_regex(r"[0-9]{1,4}(\.[0-9])?(ms|s|m|h|d)?", fullmatch=True)
)
def test_any_text_is_a_duration_or_a_named_error(raw: str) -> None:
    try:
        assert parse_duration_ms(raw, DURATION_2026_5_28) >= 0
    except BadDuration as error:
        assert str(error).startswith("Invalid duration")
