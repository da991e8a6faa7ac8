"""The overflow texts that drive recovery."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.overflow import (
    OverflowVerdict,
    classify_overflow,
    is_overflow_error,
    observed_tokens,
)
from compaction_app.engine.overflow_patterns import (
    OUTER_2026_3,
    OUTER_2026_4_20,
    OUTER_2026_5_28,
)


def classify(text: str | None) -> OverflowVerdict:
    return classify_overflow(OUTER_2026_5_28, "rules", text)


OUTER_TEXTS = [
    "request_too_large",
    "INVALID_ARGUMENT: maximum number of tokens",
    "Request exceeds the maximum size",
    "context length exceeded",
    "maximum context length",
    "prompt is too long",
    "prompt too long",
    "exceeds model context window",
    "exceeded model token limit",
    "input exceeds 5, the maximum number of tokens",
    "the model ran out of room in its context window",
    "context length: ran out of space",
    "Request size exceeds model context length",
    "Context overflow: x",
    "exceed context limit",
    "exceeds the model's maximum context",
    "max_tokens would exceed the context",
    "input length will exceed the context",
    "HTTP 413: too large",
    "model_context_window_exceeded",
    "上下文过长，请压缩",
    "上下文超出",
    "上下文长度超限",
    "超出最大上下文限制",
    "请压缩上下文",
    "input token count exceeds the maximum number of input tokens",
    "input is too long for this model",
    "Ollama error: context length exceeded, too many tokens",
    "total tokens 9000 exceeds max 8000",
    "Total token count would exceed the model's limit",
    "request (130,000 tokens) exceeds the available context size (8192)",
    "prompt (1 token) exceeds available context size",
    "input too long for model",
]


@pytest.mark.parametrize("text", OUTER_TEXTS)
def test_the_outer_list_knows_these(text: str) -> None:
    assert classify(text).overflow and classify(text).likely
    assert classify(text).decision.reason == "overflow_text"


@pytest.mark.parametrize(
    "text",
    [
        "Your input exceeds the context window of this model",
        "too many tokens",
        "context window is full",
        "context_length_exceeded",
        "context limit reached",
        "413 Payload",
        "ran out of room",
        "max_tokens exceeds the size",
        "total tokens\nexceed max",
        "subtotal cost exceeds max",
        "request (many tokens) exceeds the available context size",
        "overloaded_error",
    ],
)
def test_the_outer_list_does_not_know_these(text: str) -> None:
    assert not is_overflow_error(OUTER_2026_5_28, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_error_text"),
        (None, "no_error_text"),
        ("TPM: prompt is too long", "tokens_per_minute_limit"),
        ("prompt is too long, tokens per minute", "tokens_per_minute_limit"),
        ("reasoning is mandatory: prompt is too long", "reasoning_constraint"),
        ("insufficient credits: prompt is too long", "billing_error"),
        ("context window is too small, maximum context length", "window_below_minimum"),
        ("Context window: minimum is 4000", "window_below_minimum"),
        ("usage limit reached; prompt is too long", "rate_limit"),
        ("quota for the prompt: limit", "rate_limit_hint"),
        ("prompt limit of requests per hour", "rate_limit_hint"),
        ("throttle: prompt too large", "rate_limit_hint"),
        ("   ", "no_overflow_text"),
    ],
)
def test_each_objection_comes_in_its_turn(text: str | None, reason: str) -> None:
    verdict = classify(text)
    assert (verdict.likely, verdict.decision.reason) == (False, reason)


def test_only_some_objections_deny_the_overflow_itself() -> None:
    assert classify("insufficient credits: prompt is too long").overflow
    assert classify("usage limit reached; prompt is too long").overflow
    assert not classify("tpm: prompt is too long").overflow
    assert not classify("requires reasoning: prompt is too long").overflow


@pytest.mark.parametrize(
    "text",
    [
        "context overflow",
        "context window was too large",
        "context window: requested 5",
        "context window tokens",
        "prompt was limited",
        "Prompt is too large",
        "request body context is over",
        "input token count exceeded",
        "input of this length goes over",
    ],
)
def test_a_hint_within_one_line_is_enough(text: str) -> None:
    verdict = classify(text)
    assert verdict.likely and verdict.decision.reason == "overflow_hint"
    assert not verdict.overflow


@pytest.mark.parametrize(
    "text",
    [
        "context\noverflow",
        "prompt\u2028too large",
        "overflow of the context",
        "exceeds the context window",
        "request body is over",
        "too large a prompt",
    ],
)
def test_a_hint_needs_its_order_and_its_line(text: str) -> None:
    assert not classify(text).likely


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Summarization failed: prompt is too long", True),
        ("Compaction: context overflow", True),
        ("Auto-compaction failed: 429 context overflow", True),
        ("Compaction timed out", False),
        ("prompt is too long", False),
    ],
)
def test_a_compaction_that_overflowed_is_told_apart(text: str, failed: bool) -> None:
    assert classify(text).compaction_failure is failed


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "input length and max_tokens exceed context limit (i.e 156,321 + 48384 > 200000)",
            204_705,
        ),
        ("input length exceed context window (i.e 1,000 + 0 > 900)", 1_000),
        ("input length and max_tokens exceed context (i.e 1 + 2 > 2)", 3),
        ("prompt is too long: 213,462 tokens > 200000 maximum", 213_462),
        ("prompt is too long: 250000, model maximum context length: 200000", 250_000),
        ("you requested 12,345 tokens", 12_345),
        ("exceeded model token limit: 262144 (requested: 291351)", 291_351),
        ("resulted in 250,000 tokens", 250_000),
        ("requested 0 tokens", None),
        ("requested , tokens; resulted in 7 tokens", 7),
        ("you requested about 10000 tokens", None),
        ("prompt is too long: 5 tokens", None),
        ("input length and max_tokens exceed context limit: 1 + 2 > 2", None),
        ("", None),
    ],
)
def test_the_observed_size_is_read_from_known_forms(text: str, tokens: int | None) -> None:
    assert observed_tokens(OUTER_2026_5_28, text) == tokens


def test_a_sum_is_tried_before_the_other_forms() -> None:
    text = "requested 9 tokens: input length exceed context limit (i.e 1 + 2 > 2)"
    assert observed_tokens(OUTER_2026_5_28, text) == 3
    assert observed_tokens(OUTER_2026_4_20, text) == 9


def test_earlier_outer_lists_were_shorter() -> None:
    def known(text: str) -> list[bool]:
        return [
            is_overflow_error(r, text) for r in (OUTER_2026_3, OUTER_2026_4_20, OUTER_2026_5_28)
        ]

    assert known("prompt is too long") == [True, True, True]
    assert known("prompt too long") == [False, True, True]
    assert known("input is too long for this model") == [False, True, True]
    assert known("invalid_argument: maximum number of tokens") == [False, True, True]
    assert known("ran out of room in its context window") == [False, False, True]


@given(st.text())
def test_any_text_can_be_classified_and_an_overflow_is_not_less_than_likely(text: str) -> None:
    verdict = classify(text)
    assert verdict.decision.fired is verdict.likely
    if verdict.decision.reason in ("overflow_text", "no_overflow_text"):
        assert verdict.likely is verdict.overflow
