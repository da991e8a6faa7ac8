"""What the runtime tells the model of a ``/compact``."""

from __future__ import annotations

import pytest

from compaction_app.engine.turn.runtime_event import (
    compacted_event,
    judged_text,
    runtime_context,
    short_count,
    with_event,
)

NOW_MS = 1_796_086_800_000


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(765, "765"), (1000, "1.0k"), (3360, "3.4k"), (10_357, "10k"), (128_000, "128k"), (1_200_000, "1.2m")],
)  # fmt: skip
def test_counts_are_shortened_as_in_replies(tokens, text):
    assert short_count(tokens) == text


def test_the_event_names_what_was_and_what_is_left():
    event = compacted_event(10_357, 3360, 3360, 64_000, NOW_MS)
    assert (
        event == "System: [2026-12-01 01:00:00 UTC] Compacted (10k → 3.4k) • Context 3.4k/64k (5%)"
    )
    assert len(runtime_context((event,))[0]["content"]) == 235  # as the recorded request has it


def test_a_size_that_contradicts_the_one_before_is_not_told():
    event = compacted_event(3599, None, 3197, 64_000, NOW_MS)
    assert event.endswith("Compacted (3.6k before) • Context 3.2k/64k (5%)")


def test_the_same_thing_said_twice_in_a_row_is_told_once():
    first = compacted_event(10_556, 7446, 7446, 64_000, NOW_MS)
    again = compacted_event(10_558, 7448, 7448, 64_000, NOW_MS + 2000)
    assert with_event((first,), again) == (first,)


def test_without_events_the_prompt_stands_alone():
    assert (judged_text((), "Hello"), runtime_context(())) == ("Hello", [])
