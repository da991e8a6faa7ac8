"""When a memory flush or a preflight compaction is due."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.flush import Gate, flush_line, token_gate

TOKENS = st.integers(0, 3_000_000)


def gate(entry: Any, count: object = None, window: float = 96_000, **parts: Any) -> Gate:
    line = flush_line(
        window, parts.get("floor", 20_000), parts.get("soft", 4_000), parts.get("least")
    )
    return token_gate(entry, line, "test", count)


@pytest.mark.parametrize(("count", "fires"), [(71_999.9, False), (72_000, True), (72_000.9, True)])
def test_reaching_the_line_is_enough(count: float, fires: bool) -> None:
    found = gate({}, count)
    assert (found.flush.fired, found.preflight.fired) == (fires, fires)


def test_a_stored_total_is_judged_as_it_is_stored() -> None:
    found = gate({"totalTokens": 71_999.9})
    assert (found.total, found.flush.fired) == (71_999.9, False)
    assert gate({"totalTokens": 0.5}).total == 0.5


@pytest.mark.parametrize(
    ("entry", "count", "window", "reason"),
    [
        (None, 90_000, 96_000, "no_session_entry"),
        ({}, None, 96_000, "no_total"),
        ({"totalTokens": 90_000}, 0.5, 96_000, "no_total"),
        ({"totalTokens": 90_000, "totalTokensFresh": False}, None, 96_000, "no_total"),
        ({}, 90_000, 24_000, "window_too_small_for_flush"),
        ({}, 71_999, 96_000, "below_threshold"),
        ({"memoryFlushCompactionCount": 0}, 71_999, 96_000, "below_threshold"),
        ({"memoryFlushCompactionCount": 0}, 72_000, 96_000, "already_flushed_in_cycle"),
        ({"compactionCount": 1, "memoryFlushCompactionCount": 0}, 72_000, 96_000, "flush_due"),
        ({"totalTokens": 72_000}, None, 96_000, "flush_due"),
    ],
)
def test_every_answer_says_why(entry: Any, count: object, window: int, reason: str) -> None:
    found = gate(entry, count, window)
    assert found.flush.reason == reason
    assert found.flush.fired is (reason == "flush_due")


def test_the_preflight_compaction_ignores_the_flush_mark() -> None:
    found = gate({"memoryFlushCompactionCount": 0}, 80_000)
    assert found.preflight.fired and not found.flush.fired
    assert found.already_flushed is True


def test_the_decision_carries_its_arithmetic() -> None:
    decision = gate({}, 80_000, least=90_000.9).flush
    assert decision.inputs["totalTokens"] == 80_000
    assert [(step.name, step.value) for step in decision.steps] == [
        ("threshold", 90_000),
        ("judged", 80_000),
    ]


@given(window=TOKENS, floor=TOKENS, soft=TOKENS, least=TOKENS, more=st.integers(0, 100_000))
def test_the_line_rises_with_the_window_and_falls_with_what_is_kept_free(
    window: int, floor: int, soft: int, least: int, more: int
) -> None:
    line = flush_line(window, floor, soft, least).tokens
    assert line >= least
    assert flush_line(window + more, floor, soft, least).tokens >= line
    assert flush_line(window, floor + more, soft, least).tokens <= line
    assert flush_line(window, floor, soft + more, least).tokens <= line
    assert flush_line(window, floor, soft, least + more).tokens >= line


@given(
    entry=st.none() | st.dictionaries(
        st.sampled_from(
            ["totalTokens", "totalTokensFresh", "compactionCount", "memoryFlushCompactionCount"]
        ),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
    ),
    count=st.none() | st.integers() | st.floats() | st.text(max_size=2),
    window=TOKENS,
)  # fmt: skip
def test_a_flush_is_never_due_where_a_preflight_compaction_is_not(
    entry: Any, count: object, window: int
) -> None:
    found = gate(entry, count, window)
    assert found.preflight.fired or not found.flush.fired
    assert found.flush.reason and found.preflight.reason
