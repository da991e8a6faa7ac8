"""The last usage of a transcript, read from its end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.last_usage import (
    CHUNK_BYTES,
    LastUsage,
    estimate_from_messages,
    estimate_from_usage,
    read_last_usage,
    stored_messages,
)
from sessions_app.tokens.message_tokens import OPENCLAW_2026_5_28 as ESTIMATOR
from sessions_app.transcripts.usage import USAGE_2026_5_28, Usage


def read(content: bytes, reads: list[tuple[int, int]] | None = None) -> LastUsage:
    def at(offset: int, size: int) -> bytes:
        if reads is not None:
            reads.append((offset, size))
        assert offset >= 0 and offset + size <= len(content)
        return content[offset : offset + size]

    return read_last_usage(len(content), at, USAGE_2026_5_28)


def line(prompt: int, output: int = 0) -> str:
    return json.dumps({"message": {"usage": {"input": prompt, "output": output}}})


def test_the_last_usage_that_is_not_zero_counts() -> None:
    found = read("\n".join([line(5), line(7, 2), line(0), "{bad", ""]).encode())
    assert found.usage == Usage(input=7, output=2)
    assert (found.prompt_tokens, found.output_tokens) == (7, 2)


def test_without_any_usage_only_the_size_is_known() -> None:
    assert read(b"\n[1]\n") == LastUsage(5)
    assert read(b"") == LastUsage(0)


@pytest.mark.parametrize(
    ("tail", "trailing"), [("", 0), ("\n", 0), ("\n  \n", 0), ('\n{"a":1}', 8), ('\n{"a":1}\n', 10)]
)
def test_trailing_bytes_are_counted_as_the_runtime_counts_them(tail: str, trailing: int) -> None:
    assert read((line(5) + tail).encode()).trailing_bytes == trailing


def test_a_long_file_is_read_backwards_only_as_far_as_needed() -> None:
    reads: list[tuple[int, int]] = []
    content = (line(1) + "\n") * 20_000
    assert read(content.encode(), reads).prompt_tokens == 1
    assert reads == [(len(content) - CHUNK_BYTES, CHUNK_BYTES)]


def test_a_usage_line_that_spans_chunks_is_put_together_again() -> None:
    big = json.dumps({"pad": "é" * 70_000, "usage": {"input": 9}})
    assert read(big.encode()).prompt_tokens == 9


def test_message_usage_goes_before_the_lines_own() -> None:
    both = {"message": {"usage": {"input": 3}}, "usage": {"input": 4}}
    assert read(json.dumps(both).encode()).prompt_tokens == 3
    assert (
        read(json.dumps({"message": {"usage": None}, "usage": {"input": 4}}).encode()).prompt_tokens
        == 4
    )


@given(st.lists(st.sampled_from(["", " ", "x" * 40_000, "[1]", '"\\ud800"', line(0)]), max_size=8))
@settings(max_examples=60, deadline=None)
def test_whatever_follows_the_usage_is_found_behind_it(tail: list[str]) -> None:
    content = "\n".join([line(6, 1), *tail]).encode()
    found = read(content)
    assert found.usage == Usage(input=6, output=1)
    assert found.trailing_bytes is not None and found.trailing_bytes >= 0


@given(st.binary(max_size=200))
def test_any_bytes_give_a_size(content: bytes) -> None:
    assert read(content).byte_size == len(content)


def message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_the_estimate_is_the_usage_where_it_ends_the_file() -> None:
    last = LastUsage(400, Usage(input=1000, output=50), 0)
    found = estimate_from_usage(last, [message("x" * 90_000)], ESTIMATOR)
    assert (found.prompt_tokens, found.output_tokens, found.byte_tokens) == (1000, 50, 100)


def test_what_follows_the_usage_counts_by_bytes_or_by_the_messages_weight() -> None:
    last = LastUsage(400, Usage(input=1000, output=50), 41)
    assert estimate_from_usage(last, [], ESTIMATOR).prompt_tokens == 1011
    heavy = estimate_from_usage(last, [message("x" * 8000)], ESTIMATOR)
    assert heavy.prompt_tokens == 2000


def test_without_a_usage_the_messages_count_and_without_messages_the_bytes() -> None:
    assert estimate_from_usage(LastUsage(91), [message("x" * 8)], ESTIMATOR).prompt_tokens == 2
    assert estimate_from_usage(LastUsage(91), [], ESTIMATOR).prompt_tokens == 23
    assert estimate_from_messages(LastUsage(91), [], ESTIMATOR).prompt_tokens is None


def test_only_the_last_messages_are_recent() -> None:
    values = [{"message": message(str(i))} for i in range(300)] + [1, None, {"message": 5}]
    content = b"\n".join(json.dumps(value).encode() for value in values)
    recent = stored_messages(content, recent_only=True)
    assert len(recent) == 200 and recent[-1]["content"] == "299"
    assert len(stored_messages(content, recent_only=False)) == 300


def test_only_the_last_mebibyte_is_recent() -> None:
    lines = [json.dumps({"message": message("x" * 400_000)}).encode() for _ in range(4)]
    content = b"\n".join(lines)
    assert len(stored_messages(content, recent_only=True)) == 2
    assert len(stored_messages(content, recent_only=False)) == 4
