"""Is the context window too small to work with? (spec budgets 2, profiles 1.4 and 3)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine import endpoint
from compaction_app.engine.decision import Decision, Step
from sessions_app.tokens import javascript as js

HARD_TOKENS: Final = 4_000
HARD_RATIO: Final = 0.1
WARN_TOKENS: Final = 8_000
WARN_RATIO: Final = 0.2
FIXED_HARD_TOKENS: Final = 16_000
FIXED_WARN_TOKENS: Final = 32_000


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below ``warn`` a warning, below ``hard`` no run at all; tokens, both strict."""

    hard: int | float
    warn: int | float


@dataclass(frozen=True, slots=True)
class GuardedWindow:
    """What the guard looks at: the resolved window, the one before the cap, and the source."""

    tokens: int | float
    source: str
    reference_tokens: int | float | None = None


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """The guard's answer. A warning is logged and the run goes on; a block ends it before any call."""

    tokens: int | float
    thresholds: Thresholds
    should_warn: bool
    should_block: bool
    decision: Decision


GuardLines = Callable[[GuardedWindow], tuple[int | float, Thresholds]]


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What differs by version.

    ``lines``: the window's tokens as the guard counts them, and its default thresholds.
    ``blocks_unknown``: a window of 0 tokens warns and blocks. ``reports_thresholds``: the runtime's
    own answer names the thresholds. ``names_cap``: the advice knows ``agents.defaults.contextTokens``.
    """

    lines: GuardLines
    blocks_unknown: bool
    reports_thresholds: bool
    names_cap: bool = True


@dataclass(frozen=True, slots=True)
class GuardMessages:
    """The texts for the log and for the user, and what the base URL was taken for."""

    endpoint_class: str
    likely_self_hosted: bool
    warn: str
    block: str


def guard_thresholds(tokens: object) -> Thresholds:
    """The lines of a window: a tenth and a fifth of it, but no less than 4000 and 8000 tokens."""
    window = js.pos_int(tokens) or 0
    return Thresholds(
        hard=js.maximum(HARD_TOKENS, js.floor(window * HARD_RATIO)),
        warn=js.maximum(WARN_TOKENS, js.floor(window * WARN_RATIO)),
    )


def relative_lines(window: GuardedWindow) -> tuple[int | float, Thresholds]:
    """Lines of the uncapped window; the block line no higher than the capped one (or 4000).

    So a cap can raise the warning line, but a capped window of 4000 or more is never blocked.
    """
    tokens = js.pos_int(window.tokens) or 0
    lines = guard_thresholds(js.pos_int(window.reference_tokens) or tokens)
    return tokens, Thresholds(min(lines.hard, max(tokens, HARD_TOKENS)), lines.warn)


def fixed_lines(window: GuardedWindow) -> tuple[int | float, Thresholds]:
    tokens = js.maximum(0, js.floor(window.tokens))
    return tokens, Thresholds(FIXED_HARD_TOKENS, FIXED_WARN_TOKENS)


OPENCLAW_2026_3: Final = GuardRules(fixed_lines, blocks_unknown=False, reports_thresholds=False)
OPENCLAW_2026_4_20: Final = OPENCLAW_2026_3
OPENCLAW_2026_5_28: Final = GuardRules(relative_lines, blocks_unknown=True, reports_thresholds=True)
OPENCLAW_2026_9: Final = replace(OPENCLAW_2026_5_28, names_cap=False)


def guard_window(
    rules: GuardRules,
    rule_set: str,
    window: GuardedWindow,
    hard: float | None = None,
    warn: float | None = None,
) -> GuardVerdict:
    """Judge a window; given thresholds replace the computed ones, rounded down, at least 1."""
    tokens, lines = rules.lines(window)
    lines = Thresholds(
        hard=js.maximum(1, js.floor(lines.hard if hard is None else hard)),
        warn=js.maximum(1, js.floor(lines.warn if warn is None else warn)),
    )
    unknown = rules.blocks_unknown and tokens == 0
    should_warn = unknown or 0 < tokens < lines.warn
    should_block = unknown or 0 < tokens < lines.hard
    outcome = "block" if should_block else "warn" if should_warn else "pass"
    reasons = {
        "block": "window_unknown" if unknown else "below_hard_minimum",
        "warn": "below_warning_line",
        "pass": "window_large_enough",
    }
    decision = Decision(
        rule="window_guard",
        fired=should_warn or should_block,
        outcome=outcome,
        reason=reasons[outcome],
        rule_set=rule_set,
        inputs={
            "tokens": tokens,
            "referenceTokens": window.reference_tokens,
            "source": window.source,
        },
        steps=(
            Step("warnBelowTokens", "tokens < warnBelowTokens", lines.warn),
            Step("hardMinTokens", "tokens < hardMinTokens", lines.hard),
        ),
    )
    return GuardVerdict(tokens, lines, should_warn, should_block, decision)


def guard_messages(
    verdict: GuardVerdict,
    provider: str,
    model: str,
    source: str,
    base_url: object,
    rules: GuardRules = OPENCLAW_2026_5_28,
) -> GuardMessages:
    """The warning and the error; a local endpoint gets a sentence on what to raise."""
    tokens = js.number_text(verdict.tokens)
    warn_below = js.number_text(verdict.thresholds.warn)
    warn = (
        f"low context window: {provider}/{model} ctx={tokens} (warn<{warn_below}) source={source}"
    )
    block = (
        f"Model context window too small ({tokens} tokens; source={source}). "
        f"Minimum is {js.number_text(verdict.thresholds.hard)}."
    )
    kind = endpoint.endpoint_class(base_url)
    is_local = kind == endpoint.LOCAL
    if is_local:
        warn_advice, block_advice = _local_advice(source, warn_below, rules)
        warn, block = warn + warn_advice, block + block_advice
    return GuardMessages(kind, is_local, warn, block)


def _local_advice(source: str, warn_below: str, rules: GuardRules) -> tuple[str, str]:
    if source == "agentContextTokens" and rules.names_cap:
        return (
            "; OpenClaw is capped by agents.defaults.contextTokens, so raise that cap if you want"
            " to use more of the model context window",
            " OpenClaw is capped by agents.defaults.contextTokens. Raise that cap.",
        )
    if source == "modelsConfig":
        return (
            "; OpenClaw is using the configured model context limit for this model, so raise"
            " contextWindow/contextTokens if it is set too low",
            " OpenClaw is using the configured model context limit for this model. Raise"
            " contextWindow/contextTokens or choose a larger model.",
        )
    return (
        f"; local/self-hosted runs work best at {warn_below}+ tokens and may show weaker tool use"
        " or more compaction until the server/model context limit is raised",
        " This looks like a local model endpoint. Raise the server/model context limit or choose a"
        f" larger model. OpenClaw local/self-hosted runs work best at {warn_below}+ tokens.",
    )
