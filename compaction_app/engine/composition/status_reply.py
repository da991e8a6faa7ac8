"""What ``/status`` and ``/usage tokens`` say of a session's context, in the runtime's own words.

Of the runtime's status only the lines that tell of context and compactions are here, in its order:
version, model, tokens, context with compactions, session. Sources: the session's entry (spec budgets 7.1) and the
window of the status chain (spec budgets 1.4, scenario C).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from compaction_app.engine.composition.context_reply import cached_total
from sessions_app.tokens import javascript as js

MOST_PERCENT: Final = 999
MINUTE_MS: Final = 60_000
HOURS_SHOWN: Final = 48
TENTH: Final = Decimal("0.1")
WHOLE: Final = Decimal(1)


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """A session as a status tells it. Tokens are none where nothing is known; ``updated_ms`` is the
    epoch time of its last change, ``compactions`` how many were completed."""

    version: str
    model: str
    key: str
    input_tokens: float | None
    output_tokens: float | None
    total_tokens: float | None
    context_tokens: float | None
    compactions: int
    updated_ms: float | None


def facts_of_entry(
    entry: Mapping[str, Any], *, version: str, model: str, key: str, context_tokens: float | None
) -> StatusFacts:
    """What a session's entry in ``sessions.json`` says."""
    count = entry.get("compactionCount")
    return StatusFacts(
        version=version,
        model=model,
        key=key,
        input_tokens=_number(entry, "inputTokens"),
        output_tokens=_number(entry, "outputTokens"),
        total_tokens=cached_total(entry),
        context_tokens=context_tokens,
        compactions=int(count) if js.is_finite(count) and count > 0 else 0,
        updated_ms=_number(entry, "updatedAt"),
    )


def status_reply(facts: StatusFacts, now_ms: float) -> str:
    """The lines of ``/status`` about context and compactions."""
    age = None if facts.updated_ms is None else now_ms - facts.updated_ms
    updated = "no activity" if facts.updated_ms is None else f"updated {age_of(age)}"
    tokens = _pair(facts.input_tokens, facts.output_tokens)
    lines = (
        f"🦞 OpenClaw {facts.version}",
        f"🧠 Model: {facts.model or 'unknown'}",
        f"🧮 Tokens: {tokens}" if tokens else "",
        f"📚 Context: {context_usage(facts.total_tokens, facts.context_tokens)} · "
        f"🧹 Compactions: {facts.compactions}",
        f"🧵 Session: {facts.key or 'unknown'} • {updated}",
    )
    return "\n".join(line for line in lines if line)


def usage_line(input_tokens: float | None, output_tokens: float | None) -> str | None:
    """The line that ``/usage tokens`` puts below each answer; none without reported usage."""
    tokens = _pair(input_tokens, output_tokens)
    return f"Usage: {tokens}" if tokens else None


def context_usage(total: float | None, window: float | None) -> str:
    """``14k/32k (45%)``; ``?`` for what is unknown."""
    known = "?" if not window else token_count(window)
    if total is None:
        return f"?/{known}"
    if not window:
        return f"{token_count(total)}/?"
    percent = min(MOST_PERCENT, js.round_half_up(total / window * 100))
    return f"{token_count(total)}/{known} ({percent}%)"


def token_count(value: float) -> str:
    """Tokens in short: ``999``, ``1.2k``, ``14k``, ``1.0m``."""
    if value >= 1_000_000:
        return f"{_fixed(value / 1_000_000, TENTH)}m"
    if value >= 10_000:
        return f"{_fixed(value / 1_000, WHOLE)}k"
    if value >= 1_000:
        return f"{_fixed(value / 1_000, TENTH)}k"
    return str(js.round_half_up(value))


def _fixed(value: float, digits: Decimal) -> str:
    """``toFixed`` of JavaScript: of two that are as near the larger one."""
    return str(Decimal(value).quantize(digits, ROUND_HALF_UP))


def age_of(ms: float | None) -> str:
    """How long ago: ``just now``, ``5m ago``, ``3h ago``, ``4d ago``."""
    if not ms or ms < 0:
        return "unknown"
    minutes = js.round_half_up(ms / MINUTE_MS)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes}m ago"
    hours = js.round_half_up(minutes / 60)
    return f"{hours}h ago" if hours < HOURS_SHOWN else f"{js.round_half_up(hours / 24)}d ago"


def _pair(given: float | None, made: float | None) -> str:
    if given is None and made is None:
        return ""
    texts = ("?" if value is None else token_count(value) for value in (given, made))
    return "{} in / {} out".format(*texts)


def _number(entry: Mapping[str, Any], name: str) -> float | None:
    value = entry.get(name)
    return value if js.is_finite(value) and value >= 0 else None
