"""What must happen before a prompt is sent? One of four routes (spec budgets 4.5, profiles 4, 5.8).

The prompt fits, or it has to shrink: by cutting tool results alone, by a compaction, or by both. The
estimate is guessed high; the reserve is capped here so that half a small window stays for the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from compaction_app.engine.budget import RESERVE_SHARE, effective_reserve, min_prompt_budget
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.pruning.recovery import plan_reduction
from compaction_app.engine.pruning.recovery_rules import RecoveryRules
from sessions_app.tokens import javascript as js
from sessions_app.tokens import pressure
from sessions_app.tokens.pressure import (
    CHARS_PER_TOKEN,
    plain_pre_prompt_pressure,
    pre_prompt_pressure,
)
from sessions_app.transcripts.usage import reported_context

TRUNCATION_MARGIN_TOKENS: Final = 512
TRUNCATION_MARGIN_RATIO: Final = 1.5

OVERFLOW_TEXT: Final = "Context overflow: prompt too large for the model (precheck)."
MID_TURN_OVERFLOW_TEXT: Final = (
    "Context overflow: prompt too large for the model (mid-turn precheck)."
)
BOUNDARY_SOURCE: Final = "rendered_llm_boundary"
TRANSCRIPT_SOURCE: Final = "transcript_estimate"
UNWINDOWED: Final = "unwindowed_"
PROVIDER_SOURCE: Final = "provider_context_usage"

Messages = Sequence[Mapping[str, Any]]
Estimate = Callable[[Messages, str, object], int]
Route = Literal["fits", "compact_only", "truncate_tool_results_only", "compact_then_truncate"]


@dataclass(frozen=True, slots=True)
class RoutingRules:
    """What differs by version; 2026.3 has no such check.

    ``looks_beyond_messages``: a rendered prompt's own estimate and the messages outside the sent window
    are looked at, and the answer names which estimate it judged. ``weighs_shape``: the estimate weighs
    scripts, results and JSON each in its way and counts the system prompt; else it is length by four.
    ``reserve_share``: the part of the window the reserve may take; none where it only has to leave the
    least prompt. ``trusts_provider``: a context size that the provider reported replaces the estimate
    of what came before it. ``blocks``: a prompt that does not fit is not sent.
    """

    estimate: Estimate
    looks_beyond_messages: bool
    weighs_shape: bool
    reserve_share: float | None = None
    trusts_provider: bool = False
    blocks: bool = True


OPENCLAW_2026_4_20: Final = RoutingRules(
    plain_pre_prompt_pressure, looks_beyond_messages=False, weighs_shape=False
)
OPENCLAW_2026_5_28: Final = RoutingRules(
    pre_prompt_pressure, looks_beyond_messages=True, weighs_shape=True
)
OPENCLAW_2026_9: Final = RoutingRules(
    partial(pre_prompt_pressure, rules=pressure.OPENCLAW_2026_9),
    looks_beyond_messages=True,
    weighs_shape=True,
    reserve_share=RESERVE_SHARE,
    trusts_provider=True,
    blocks=False,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is about to be sent.

    ``boundary`` is the estimate of the rendered prompt (``estimatedPromptTokens``, ``source``) where
    there is one; ``unwindowed`` the whole history where ``messages`` is a part of it;
    ``tool_schema_tokens`` what the tools' schemas cost, where it is known and counts.
    """

    messages: Messages
    text: str = ""
    system: object = None
    boundary: Mapping[str, Any] | None = None
    unwindowed: Messages | None = None
    tool_schema_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of a window and how they are split between the prompt and what must stay free."""

    window: int | float
    reserve: int | float
    min_prompt: int | float
    effective_reserve: int | float
    prompt: int | float


@dataclass(frozen=True, slots=True)
class PromptRoute:
    """The route, the figures behind it, and the decision that explains it.

    ``source`` names the estimate that was judged; ``None`` where the version does not tell.
    """

    route: Route
    estimated_prompt_tokens: int | float
    source: str | None
    budget: Budget
    overflow_tokens: int | float
    reducible_chars: int | float
    decision: Decision

    @property
    def should_compact(self) -> bool:
        return self.route in ("compact_only", "compact_then_truncate")


def prompt_budget(
    context_tokens: float, reserve_tokens: float, reserve_share: float | None = None
) -> Budget:
    """The split of a window. The reserve may take what the minimum for the prompt leaves, or, where
    the version sets one, its share of the window."""
    window = js.maximum(1, js.floor(context_tokens))
    reserve = js.maximum(0, js.floor(reserve_tokens))
    if reserve_share is None:
        least = min_prompt_budget(window)
        effective = js.minimum(reserve, js.maximum(0, window - least))
    else:
        effective = effective_reserve(window, reserve, reserve_share)
        least = window - js.floor(window * reserve_share)
    return Budget(window, reserve, least, effective, js.maximum(1, window - effective))


def route_prompt(
    rules: RoutingRules,
    recovery: RecoveryRules,
    rule_set: str,
    prompt: Prompt,
    context_tokens: float,
    reserve_tokens: float,
    tool_result_max_chars: float | None = None,
) -> PromptRoute:
    """Choose the route for a prompt in a window of ``context_tokens``.

    ``tool_result_max_chars`` is the live cap of one tool result, characters; without it the window's
    automatic cap is taken to tell how much cutting results would save.
    """
    estimate, source, messages = _estimate(rules, prompt)
    reducible = plan_reduction(
        messages, context_tokens, recovery, single_cap_chars=tool_result_max_chars
    ).max_reducible_chars
    budget = prompt_budget(context_tokens, reserve_tokens, rules.reserve_share)
    return route_estimate(rules, rule_set, estimate, source, reducible, budget)


def route_estimate(
    rules: RoutingRules,
    rule_set: str,
    estimate: float,
    source: str,
    reducible_chars: float,
    budget: Budget,
) -> PromptRoute:
    """Choose the route from figures: the estimate in tokens, and what cutting results would save."""
    overflow = js.maximum(0, estimate - budget.prompt)
    needed = truncation_threshold_chars(overflow)
    route = _route(overflow, reducible_chars, needed)
    steps = _steps(budget, overflow, reducible_chars, needed)
    return PromptRoute(
        route=route,
        estimated_prompt_tokens=estimate,
        source=source if rules.looks_beyond_messages else None,
        budget=budget,
        overflow_tokens=overflow,
        reducible_chars=reducible_chars,
        decision=_decision(rule_set, route, estimate, source, budget, steps),
    )


def cli_turn_compacts(route: PromptRoute, stored_total: float) -> bool:
    """Whether a turn of a command-line backend compacts first.

    Its route is that of the stored branch with an empty prompt; a stored total above the prompt's
    budget counts as well.
    """
    return (
        route.should_compact
        or max(route.estimated_prompt_tokens, stored_total) > route.budget.prompt
    )


def truncation_threshold_chars(overflow_tokens: float) -> int | float:
    """What cutting tool results must save to be enough alone: the overflow with a margin, characters."""
    chars = overflow_tokens * CHARS_PER_TOKEN
    return js.maximum(
        chars + TRUNCATION_MARGIN_TOKENS * CHARS_PER_TOKEN,
        js.ceil(chars * TRUNCATION_MARGIN_RATIO),
    )


def _estimate(rules: RoutingRules, prompt: Prompt) -> tuple[int | float, str, Messages]:
    """The tokens judged, where they come from, and the messages whose results could be cut."""
    given = (prompt.boundary or {}).get("estimatedPromptTokens")
    beyond = rules.looks_beyond_messages
    estimate: int | float
    if beyond and prompt.boundary and js.is_finite(given):
        estimate = js.ceil(js.maximum(0, given))
        name = prompt.boundary.get("source")
        source = js.trim(name) if isinstance(name, str) else ""
        source = source or BOUNDARY_SOURCE
    else:
        estimate, source = estimate_of(rules, prompt.messages, prompt)
    if beyond and prompt.unwindowed is not None and prompt.unwindowed is not prompt.messages:
        whole, named = estimate_of(rules, prompt.unwindowed, prompt)
        if whole > estimate:
            return whole, f"{UNWINDOWED}{named}", prompt.unwindowed
    return estimate, source, prompt.messages


def estimate_of(rules: RoutingRules, messages: Messages, prompt: Prompt) -> tuple[int | float, str]:
    """The estimate of a prompt over ``messages``, and its source."""
    reported = reported_context(messages) if rules.trusts_provider else None
    if reported is not None:
        behind = rules.estimate(messages[reported.index + 1 :], prompt.text, prompt.system)
        return reported.tokens + behind, PROVIDER_SOURCE
    estimate = rules.estimate(messages, prompt.text, prompt.system)
    return estimate + prompt.tool_schema_tokens, TRANSCRIPT_SOURCE


def _route(overflow: float, reducible: float, needed: float) -> Route:
    if not overflow > 0:  # also where a window that is no number makes the overflow none
        return "fits"
    if reducible <= 0:
        return "compact_only"
    return "truncate_tool_results_only" if reducible >= needed else "compact_then_truncate"


_REASONS: Final[Mapping[Route, str]] = {
    "fits": "estimate_within_budget",
    "compact_only": "nothing_to_truncate",
    "truncate_tool_results_only": "truncation_suffices",
    "compact_then_truncate": "truncation_not_enough",
}


def _decision(
    rule_set: str,
    route: Route,
    estimate: float,
    source: str,
    budget: Budget,
    steps: tuple[Step, ...],
) -> Decision:
    return Decision(
        rule="prompt_route",
        fired=route != "fits",
        outcome=route,
        reason=_REASONS[route],
        rule_set=rule_set,
        inputs={
            "estimatedPromptTokens": estimate,
            "pressureSource": source,
            "contextTokenBudget": budget.window,
            "reserveTokens": budget.reserve,
        },
        steps=steps,
    )


def _steps(budget: Budget, overflow: float, reducible: float, needed: float) -> tuple[Step, ...]:
    return (
        Step("minPromptBudget", "min(8000, contextTokenBudget / 2)", budget.min_prompt),
        Step(
            "effectiveReserveTokens",
            "min(reserveTokens, contextTokenBudget - minPromptBudget)",
            budget.effective_reserve,
        ),
        Step(
            "promptBudgetBeforeReserve",
            "contextTokenBudget - effectiveReserveTokens",
            budget.prompt,
        ),
        Step("overflowTokens", "estimatedPromptTokens - promptBudgetBeforeReserve", overflow),
        Step("toolResultReducibleChars", "what cutting tool results saves", reducible, "chars"),
        Step(
            "truncationThresholdChars",
            "max(overflowTokens * 4 + 2048, overflowTokens * 4 * 1.5)",
            needed,
            "chars",
        ),
    )
