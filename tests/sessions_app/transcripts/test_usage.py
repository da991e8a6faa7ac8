"""Usage blocks of every provider become one record."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.transcripts.usage import (
    USAGE_2026_4_20,
    Usage,
    accumulate_usage,
    context_prompt_tokens,
    has_nonzero_usage,
    normalize_usage,
    prompt_tokens,
    read_usage,
    session_total_tokens,
)

NAMES = (
    "input", "input_tokens", "prompt_n", "output", "completion_tokens", "cacheRead", "cached_tokens",
    "cache_creation_input_tokens", "reasoning_tokens", "total", "timings", "input_tokens_details",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "raw", [None, "usage", 5, [], [1], True, {}, {"input": "5"}, {"input": True}]
)
def test_a_block_without_numbers_reports_nothing(raw: object) -> None:
    assert normalize_usage(raw) is None


def test_the_first_present_field_wins_even_when_it_is_not_a_number() -> None:
    assert normalize_usage({"input": "5", "input_tokens": 7, "output": 1}) == Usage(output=1)
    assert normalize_usage({"input": None, "prompt_tokens": 7}) == Usage(input=7)


def test_cached_tokens_inside_the_prompt_are_taken_out_of_it() -> None:
    raw = {"prompt_tokens": 10, "cached_tokens": 4}
    assert normalize_usage(raw) == Usage(input=6, cache_read=4)
    assert prompt_tokens(normalize_usage(raw)) == 10


def test_a_cached_field_that_is_null_still_says_how_the_provider_counts() -> None:
    assert normalize_usage({"input": 10, "cacheRead": 4, "cached_tokens": None}) == Usage(
        input=6, cache_read=4
    )


def test_figures_are_whole_and_never_negative() -> None:
    raw = {"input": 1.9, "output": -3, "total": 1e300, "cacheRead": math.nan}
    assert normalize_usage(raw) == Usage(input=1, output=0, total=2**53 - 1)


def test_the_earlier_version_keeps_figures_as_they_are_and_knows_no_reasoning() -> None:
    raw = {"input": 1.5, "output": -3, "reasoningTokens": 4, "timings": {"prompt_n": 9}}
    assert normalize_usage(raw, USAGE_2026_4_20) == Usage(input=1.5, output=-3)
    assert normalize_usage({"cached_tokens": 9, "input": 4}, USAGE_2026_4_20) == Usage(
        input=0, cache_read=9
    )
    assert read_usage({"reasoningTokens": 4}, USAGE_2026_4_20) == Usage()


def test_output_is_never_part_of_the_context() -> None:
    assert prompt_tokens(Usage(output=5, total=9)) is None
    assert session_total_tokens(Usage(output=5)) is None
    assert session_total_tokens(Usage(input=5), override=7) == 7
    assert session_total_tokens(Usage(input=5), override=math.inf) == 5


def test_the_context_is_a_known_size_then_the_last_call_then_the_run() -> None:
    run, last = Usage(input=10), Usage(input=4)
    assert context_prompt_tokens(run, last, 99) == 99
    assert context_prompt_tokens(run, last, 0) == 4
    assert context_prompt_tokens(run, Usage(output=1)) == 10
    assert context_prompt_tokens(None) is None


def test_sums_skip_calls_that_used_nothing_and_figures_that_stay_zero() -> None:
    summed = accumulate_usage(
        [Usage(input=1, output=0), None, Usage(input=0), Usage(output=2, total=9)]
    )
    assert summed.total == Usage(input=1, output=2, total=10)
    assert summed.last == Usage(output=2, total=9)


@given(VALUES)
def test_any_value_gives_counts_from_zero_to_the_largest_safe_integer(raw: Any) -> None:
    usage = normalize_usage(raw)
    if usage is not None:
        for name in ("input", "output", "cache_read", "cache_write", "reasoning", "total"):
            value = getattr(usage, name)
            assert value is None or (isinstance(value, int) and 0 <= value <= 2**53 - 1)
        assert prompt_tokens(usage) is None or has_nonzero_usage(usage)
    accumulate_usage([usage, read_usage(raw)] if read_usage(raw) != Usage(input=math.inf) else [])
