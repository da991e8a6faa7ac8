"""The inner runtime's overflow texts, and the usage that tells where there is no error."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.overflow import is_context_overflow
from compaction_app.engine.overflow_patterns import (
    INNER_2026_3,
    INNER_2026_4_20,
    INNER_2026_5_28,
    InnerOverflowRules,
)


def inner(text: str, rules: InnerOverflowRules = INNER_2026_5_28) -> bool:
    return is_context_overflow(rules, {"stopReason": "error", "errorMessage": text}, 1_000)


INNER_TEXTS = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    '413 {"type":"request_too_large"}',
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model",
    "it exceeds maximum context length of 5 token",
    "it exceeds the model's maximum context length of 131,072 tokens",
    "it exceeds the models maximum context length of 131072 tokens",
    "The input token count (1196265) exceeds the maximum number of tokens allowed",
    "This model's maximum prompt length is 131072 but",
    "Please reduce the length of the messages or completion",
    "maximum context length is 8192 tokens",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "The input (9000 tokens) is longer than the model context length (8192 tokens).",
    "token count of 130000 exceeds the limit of 128000",
    "the request exceeds the available context size",
    "is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 262144",
    "is too large for model with 4096 maximum context length",
    "Unhandled stop reason: MODEL_CONTEXT_WINDOW_EXCEEDED",
    "prompt too long; exceeded max context length by 100 tokens",
    "prompt too long; exceeded context length",
    "context_length_exceeded",
    "context length exceeded",
    "context length_exceeded",
    "ThrottlingException: Too many tokens",
    "token limit exceeded",
    "400 status code (no body)",
    "413 (no body)",
    "413(no body)",
]


@pytest.mark.parametrize("text", INNER_TEXTS)
def test_the_inner_list_knows_these(text: str) -> None:
    assert inner(text) and inner(text.upper())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "boom",
        "prompt was too long",
        "input is too long for this model",
        "exceeds the maximum context length of many tokens",
        "input token count\nexceeds the maximum",
        "maximum prompt length is long",
        "maximum context length is 1,000 tokens",
        "input (9,000 tokens) is longer than the model's context length (8192 tokens)",
        "exceeds the limit of x",
        "context-length-exceeded",
        "contextlength exceeded",
        "500 (no body)",
        "error 400 (no body)",
        "400 no body",
        "上下文过长",
        "Throttling error: too many tokens",
        "Service unavailable: prompt is too long",
        "Rate limit: too many tokens",
        "too many requests, too many tokens",
    ],
)
def test_the_inner_list_does_not_know_these(text: str) -> None:
    assert not inner(text)


def test_an_exclusion_by_beginning_does_not_apply_further_on() -> None:
    assert inner("x Throttling error: too many tokens")
    assert inner("Throttling error, too many tokens")


def test_earlier_inner_lists_were_shorter() -> None:
    excluded = "Service unavailable: prompt is too long"
    assert inner(excluded, INNER_2026_3) and not inner(excluded, INNER_2026_4_20)
    text = "exceeds the model's maximum context length of 1,000 tokens"
    assert not inner(text, INNER_2026_3) and not inner(text, INNER_2026_4_20)


@pytest.mark.parametrize(
    ("stop", "usage", "overflowed"),
    [
        ("stop", {"input": 1_000, "cacheRead": 0}, False),
        ("stop", {"input": 900, "cacheRead": 101}, True),
        ("stop", {}, False),
        ("toolUse", {"input": 2_000}, False),
        ("length", {"input": 900, "cacheRead": 90, "output": 0}, True),
        ("length", {"input": 989, "output": 0}, False),
        ("length", {"input": 2_000, "output": 1}, False),
        ("length", {"input": 2_000}, False),
        ("error", {"input": 2_000, "output": 0}, False),
    ],
)
def test_without_an_error_the_usage_tells(
    stop: str, usage: dict[str, Any], overflowed: bool
) -> None:
    message = {"stopReason": stop, "usage": usage}
    assert is_context_overflow(INNER_2026_5_28, message, 1_000) is overflowed
    assert not is_context_overflow(INNER_2026_5_28, message, 0)
    if stop == "length":
        assert not is_context_overflow(INNER_2026_4_20, message, 1_000)
