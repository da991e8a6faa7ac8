"""Did the prompt overflow the context window? (spec budgets 6.2, 6.3)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine import overflow_patterns as patterns
from compaction_app.engine.decision import Decision
from compaction_app.engine.overflow_patterns import InnerOverflowRules, OuterOverflowRules
from compaction_app.engine.provider_errors import (
    is_billing_error,
    is_rate_limit_error,
    is_reasoning_constraint,
    is_tokens_per_minute_error,
)
from sessions_app.tokens import javascript as js

FULL_WINDOW_RATIO: Final = 0.99


@dataclass(frozen=True, slots=True)
class OverflowVerdict:
    """What the outer runtime makes of an error text.

    Only ``likely`` drives recovery; ``overflow`` alone chooses the final text for the user.
    ``compaction_failure``: the error came from a compaction that overflowed itself.
    ``observed_tokens``: the prompt's size as the provider counted it.
    """

    overflow: bool
    likely: bool
    compaction_failure: bool
    observed_tokens: int | None
    decision: Decision


def classify_overflow(
    rules: OuterOverflowRules, rule_set: str, text: str | None
) -> OverflowVerdict:
    """Classify an error text of a provider or of the runtime itself."""
    text = text or ""
    reason, likely = _likely(rules, text)
    lower = text.lower()
    from_compaction = "compaction" in lower or "summarization failed" in lower
    observed = observed_tokens(rules, text)
    return OverflowVerdict(
        overflow=is_overflow_error(rules, text),
        likely=likely,
        compaction_failure=from_compaction and (likely or "context overflow" in lower),
        observed_tokens=observed,
        decision=Decision(
            rule="overflow_classification",
            fired=likely,
            outcome="overflow" if likely else "other",
            reason=reason,
            rule_set=rule_set,
            inputs={"text": text, "observedTokens": observed},
        ),
    )


def is_overflow_error(rules: OuterOverflowRules, text: str) -> bool:
    """Whether the text names an overflow in so many words."""
    if not text or is_tokens_per_minute_error(text) or is_reasoning_constraint(text):
        return False
    lower = text.lower()
    if any(all(phrase in lower for phrase in group) for group in rules.all_of):
        return True
    return (
        patterns.SPEAKS_OF_PROMPT.search(text) is not None
        and patterns.SPEAKS_OF_LIMIT.search(text) is not None
        and rules.provider.search(text) is not None
    )


def observed_tokens(rules: OuterOverflowRules, text: str) -> int | None:
    """The tokens the provider says it was sent; ``None`` where it gives no number above 0."""
    for form in rules.observed:
        match = form.search(text)
        if match:
            total = sum(_digits(group) for group in match.groups())
            if total > 0:
                return total
    return None


def _digits(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _likely(rules: OuterOverflowRules, text: str) -> tuple[str, bool]:
    """The first test that decides, and what it says."""
    if not text:
        return "no_error_text", False
    if is_tokens_per_minute_error(text):
        return "tokens_per_minute_limit", False
    if is_reasoning_constraint(text):
        return "reasoning_constraint", False
    if is_billing_error(text):
        return "billing_error", False
    if patterns.WINDOW_TOO_SMALL.search(text):
        return "window_below_minimum", False
    if is_rate_limit_error(text):
        return "rate_limit", False
    if is_overflow_error(rules, text):
        return "overflow_text", True
    if patterns.RATE_HINT.search(text):
        return "rate_limit_hint", False
    if patterns.OVERFLOW_HINT.search(text):
        return "overflow_hint", True
    return "no_overflow_text", False


def is_context_overflow(
    rules: InnerOverflowRules, message: Mapping[str, Any], window: int | float
) -> bool:
    """Whether the inner runtime takes an assistant message for an overflow.

    An error by its text; without an error by its usage: a prompt above the window that the provider
    silently cut, or an empty answer cut short in a window that is full.
    """
    stop = message.get("stopReason")
    text = message.get("errorMessage")
    if stop == "error" and isinstance(text, str) and text and not rules.excluded.search(text):
        return rules.overflow.search(text) is not None
    if not js.is_truthy(window):
        return False
    usage = message.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    prompt = sum(part for key in ("input", "cacheRead") if js.is_number(part := usage.get(key)))
    if stop == "stop":
        return prompt > window
    if stop == "length" and rules.cut_answers:
        return usage.get("output") == 0 and prompt >= window * FULL_WINDOW_RATIO
    return False
