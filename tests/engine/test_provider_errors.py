"""Errors that are no overflow."""

from __future__ import annotations

import pytest

from compaction_app.engine.provider_errors import (
    is_billing_error,
    is_rate_limit_error,
    is_reasoning_constraint,
    is_tokens_per_minute_error,
)

PAYMENT_CODES = [
    "status: 402",
    '"code":402',
    "statusCode: 402",
    "'status' = 402",
    "HTTP 402",
    "error 402",
    "error code: 402",
    "got 402",
    "returned a 402",
    "received 402",
    " 402 payment due",
    '{"code": 1311}',
    '"code":"x","code":1311,',
]


@pytest.mark.parametrize("text", PAYMENT_CODES)
def test_a_code_tells_of_billing_in_a_text_of_any_length(text: str) -> None:
    assert is_billing_error(text)
    assert is_billing_error(text + " x" * 600)


@pytest.mark.parametrize(
    "text",
    [
        "Payment Required",
        "insufficient credits",
        "you used all available credits",
        "monthly spend limit",
        "spending limit",
        "insufficient_quota",
        "insufficient quota",
        "your credit balance is low",
        "see Plans & Billing",
        "insufficient balance",
        "insufficient account balance",
        "this requires more credits",
        "out of extra usage",
        "draw from your extra usage",
        "Extra usage is required for long context requests",
        "余额不足",
        "欠费",
        "your current subscription plan does not yet include access to it",
        "the model x is not available on your current plan",
        "billing: please upgrade",
        "Error: billing problem, buy a subscription",
        "insufficient credit, choose another plan",
    ],
)
def test_a_phrase_tells_of_billing_in_a_short_text_only(text: str) -> None:
    assert is_billing_error(text)
    assert not is_billing_error(text + " x" * 300)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prompt is too long",
        "402",
        "status: 4020",
        "a 402 payment due",
        "code 13110",
        "insufficient data and balance",
        "billing",
        "the billing plan",
        "model x is not available",
        "current subscription plan: include access",
    ],
)
def test_near_misses_are_not_about_billing(text: str) -> None:
    assert not is_billing_error(text)


def test_the_limit_of_a_short_text_is_512_units() -> None:
    assert is_billing_error("欠费" + "x" * 510)
    assert not is_billing_error("欠费" + "x" * 511)
    assert not is_billing_error("欠费" + "\U0001f600" * 256)


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit",
        "rate_limit",
        "too many requests",
        "Too many concurrent requests",
        "x14290",
        "ThrottlingException",
        "throttled",
        "model_cooldown",
        "exceeded your current quota",
        "resource has been exhausted",
        "quota exceeded",
        "RESOURCE_EXHAUSTED",
        "usage limit",
        "(TPM)",
        "tokens per minute",
        "tokens per day",
        "请求过于频繁",
        "调用频率",
        "频率限制",
        "配额不足",
        "配额已用尽",
        "额度不足",
        "额度已用尽",
    ],
)
def test_these_are_about_rate(text: str) -> None:
    assert is_rate_limit_error(text)


@pytest.mark.parametrize("text", ["", "rate-limit", "throttle", "xtpmx", "quota", "many requests"])
def test_these_are_not(text: str) -> None:
    assert not is_rate_limit_error(text)


def test_minutes_are_told_by_a_word_of_its_own() -> None:
    assert is_tokens_per_minute_error("tokens per min (TPM): limit")
    assert is_tokens_per_minute_error("Tokens Per Minute")
    assert not is_tokens_per_minute_error("tpms")
    assert not is_tokens_per_minute_error("tokens per day")


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("Reasoning is mandatory", True),
        ("reasoning is required", True),
        ("this REQUIRES reasoning", True),
        ("it cannot be disabled: reasoning", True),
        ("it cannot be disabled", False),
        ("reasoning can be disabled", False),
    ],
)
def test_a_reasoning_constraint_has_four_forms(text: str, constraint: bool) -> None:
    assert is_reasoning_constraint(text) is constraint
