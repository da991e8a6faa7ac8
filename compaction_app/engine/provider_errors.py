"""Is a provider's error about money, about rate, or about reasoning? (spec budgets 6.3)

Such errors may speak of tokens and windows and still are no overflow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sessions_app.tokens import javascript as js

BILLING_TEXT_LIMIT: Final = 512
"""UTF-16 units; in a longer text only explicit codes tell of billing."""

_ANY: Final = js.ANY_CLASS
_SPACE: Final = js.SPACE_CLASS


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """An expression for ASCII words whose case does not matter, as in the runtime.

    It is written in lower case and searched in the lowered text: with every alternative beginning
    with a letter, the search leaps to the few places where one could begin.
    """

    lower: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        return self.lower.search(js.ascii_lower(text))


def pattern(*alternatives: str) -> ErrorPattern:
    """One expression of several."""
    return ErrorPattern(re.compile("|".join(alternatives), re.ASCII))


_PAYMENT_CODE = pattern(
    rf"(?:status|code)[\"']?{_SPACE}*[:=]{_SPACE}*402\b",
    rf"\bhttp{_SPACE}*402\b",
    rf"\berror(?:{_SPACE}+code)?{_SPACE}*[:=]?{_SPACE}*402\b",
    rf"\b(?:got|returned|received){_SPACE}+(?:a{_SPACE}+)?402\b",
    rf"\A{_SPACE}*402{_SPACE}+payment",
    rf"\bcode[\"']?{_SPACE}*[:=]?{_SPACE}*1311\b",
)
_BILLING = pattern(
    "payment required",
    "insufficient credits",
    "used all available credits",
    r"spend(?:ing)? limit",
    "insufficient[_ ]quota",
    "credit balance",
    "plans & billing",
    rf"insufficient{_SPACE}+(?:\w+{_SPACE}+)?balance",
    rf"requires?{_SPACE}+more{_SPACE}+credits",
    "out of extra usage",
    "draw from your extra usage",
    "extra usage is required",
    "余额不足",
    "欠费",
    rf"current subscription plan{_ANY}*\bnot{_ANY}*include access",
    rf"model{_ANY}*not available{_ANY}*current plan",
)
_BILLING_HEAD = pattern(
    rf"\A(?:error[:\-]?{_SPACE}*)?"
    rf"(?:billing|credit balance|insufficient credits?|payment required|http{_SPACE}*402)\b"
)
_BILLING_REMEDY: Final = ("upgrade", "credits", "payment", "purchase", "subscription", "plan")

_RATE_LIMIT = pattern(
    "rate[_ ]limit",
    "too many (?:concurrent )?requests",
    "429",
    "throttling",
    "throttled",
    "model_cooldown",
    "exceeded your current quota",
    "resource has been exhausted",
    "quota exceeded",
    "resource_exhausted",
    "usage limit",
    "tokens per day",
    "请求过于频繁",
    "调用频率",
    "频率限制",
    "配额不足",
    "配额已用尽",
    "额度不足",
    "额度已用尽",
)
_TOKENS_PER_MINUTE = pattern(r"\btpm\b", "tokens per minute")


def is_billing_error(text: str) -> bool:
    """Whether the account, not the prompt, is the obstacle."""
    if ("402" in text or "1311" in text) and _PAYMENT_CODE.search(text):
        return True
    if js.utf16_len(text) > BILLING_TEXT_LIMIT:
        return False
    if _BILLING.search(text):
        return True
    lower = text.lower()
    return bool(_BILLING_HEAD.search(text)) and any(word in lower for word in _BILLING_REMEDY)


def is_rate_limit_error(text: str) -> bool:
    return _RATE_LIMIT.search(text) is not None or is_tokens_per_minute_error(text)


def is_tokens_per_minute_error(text: str) -> bool:
    """A limit per minute is told in tokens, but it is about time."""
    return _TOKENS_PER_MINUTE.search(text) is not None


def is_reasoning_constraint(text: str) -> bool:
    """Whether the model insists on reasoning."""
    lower = text.lower()
    phrases = ("reasoning is mandatory", "reasoning is required", "requires reasoning")
    return any(phrase in lower for phrase in phrases) or (
        "reasoning" in lower and "cannot be disabled" in lower
    )
