"""Portions for the summariser (spec compaction 1.3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.chunks import (
    BASE_CHUNK_RATIO,
    CHUNKS_2026_3,
    CHUNKS_2026_5_28,
    MIN_CHUNK_RATIO,
    Chunk,
    adaptive_chunk_ratio,
    chunk_by_max_tokens,
    chunk_tokens,
    is_oversized,
    normalise_parts,
    split_by_token_share,
    summary_window,
)
from tests.engine.compaction.driving import assistant, result, user

RULES = CHUNKS_2026_5_28


def sized(tokens: int) -> dict[str, Any]:
    return user("x" * (4 * tokens))


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Turns in which every call is answered, with user messages anywhere between."""
    messages: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(0, 8))):
        messages.append(sized(draw(st.integers(0, 60))))
        calls = [f"{turn}-{i}" for i in range(draw(st.integers(0, 3)))]
        messages.append(assistant("x" * draw(st.integers(0, 200)), *calls))
        for call in calls:
            if draw(st.booleans()):
                messages.append(sized(draw(st.integers(0, 40))))
            messages.append(result(call, "r" * draw(st.integers(0, 300))))
    return messages


def covers(chunks: list[Chunk], count: int) -> bool:
    return [i for chunk in chunks for i in range(chunk.start, chunk.end)] == list(range(count))


@given(histories(), st.integers(1, 6))
def test_a_split_by_share_parts_no_call_from_its_result(
    messages: list[dict[str, Any]], parts: int
) -> None:
    chunks = split_by_token_share(messages, parts, RULES)
    assert covers(chunks, len(messages))
    assert all(chunk.end > chunk.start for chunk in chunks)
    assert len(chunks) <= parts
    for chunk in chunks:
        part = messages[chunk.start : chunk.end]
        called = {b["id"] for m in part if m["role"] == "assistant" for b in m["content"][1:]}
        answered = {m["toolCallId"] for m in part if m["role"] == "toolResult"}
        assert called == answered


@given(histories(), st.integers(1, 300))
def test_chunks_for_calls_hold_everything_once_and_stay_within_the_margin(
    messages: list[dict[str, Any]], max_tokens: int
) -> None:
    chunks = chunk_by_max_tokens(messages, max_tokens, RULES)
    assert covers(chunks, len(messages))
    for chunk in chunks:
        assert chunk.tokens <= max(1, max_tokens / 1.2) or chunk.end - chunk.start == 1


def test_the_first_version_may_part_a_call_from_its_result() -> None:
    messages = [sized(50), assistant("", "a"), result("a", "r" * 2000)]
    assert [c.end for c in split_by_token_share(messages, 2, CHUNKS_2026_3)] == [2, 3]
    assert [c.end for c in split_by_token_share(messages, 2, RULES)] == [1, 3]


def test_an_aborted_call_waits_for_no_result() -> None:
    messages = [sized(10), assistant("x" * 400, "a", stop="aborted"), sized(200)]
    assert [c.end for c in split_by_token_share(messages, 2, RULES)] == [2, 3]


def test_a_call_that_is_never_answered_moves_whole_into_the_last_part() -> None:
    messages = [sized(1), assistant("", "a"), sized(300)]
    assert [c.end for c in split_by_token_share(messages, 2, RULES)] == [1, 3]


@pytest.mark.parametrize(
    ("parts", "count", "expected"),
    [(2, 10, 2), (1.5, 10, 1), (2.9, 10, 2), (9, 3, 3), (float("nan"), 9, 1), (2, 0, 1)],
)
def test_parts_are_whole_and_no_more_than_messages(parts: float, count: int, expected: int) -> None:
    assert normalise_parts(parts, count) == expected


def test_the_chunk_ratio_drops_where_the_average_message_passes_a_tenth_of_the_window() -> None:
    window = 1200
    assert adaptive_chunk_ratio([sized(100)], window, RULES) == BASE_CHUNK_RATIO
    assert adaptive_chunk_ratio([sized(101)], window, RULES) < 0.2
    assert adaptive_chunk_ratio([sized(1000)], window, RULES) == pytest.approx(MIN_CHUNK_RATIO)


def test_a_chunk_has_at_least_one_token_in_a_tiny_window() -> None:
    assert chunk_tokens([sized(1)], 1000, RULES) == 1


def test_a_message_over_half_of_the_window_is_oversized() -> None:
    assert not is_oversized(sized(416), 1000, RULES)
    assert is_oversized(sized(417), 1000, RULES)


def test_the_window_of_a_summariser_is_its_context_tokens_even_when_they_are_zero() -> None:
    assert summary_window({"contextTokens": 0, "contextWindow": 9}, RULES) == 1
    assert summary_window({"contextTokens": 5, "contextWindow": 9}, CHUNKS_2026_3) == 9
    assert summary_window({}, RULES) == 200_000
