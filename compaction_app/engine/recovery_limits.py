"""How often does a run try to recover, and how long does it wait? (spec budgets 6.4)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.pruning.context_limits import normal_agent_id
from sessions_app.tokens import javascript as js

MAX_OVERFLOW_COMPACTIONS: Final = 3
"""Per run. What is passed on as the prompt's size is the observed one, else the window plus one."""

MAX_TRUNCATIONS: Final = 1
TIMEOUT_RECOVERY_RATIO: Final = 0.65
COMPACTION_RETRY_WAIT_MS: Final = 60_000
"""How long a run waits for a compaction to be tried again; renewed while one is in flight."""


_ATTEMPTS: Final = (
    Step("maxOverflowCompactions", "per run", MAX_OVERFLOW_COMPACTIONS, "count"),
    Step("maxTruncations", "per run", MAX_TRUNCATIONS, "count"),
)

OVERFLOW_TEXT: Final = (
    "Context overflow: prompt too large for the model. Try /reset (or /new) to start a fresh session,"
    " or use a larger-context model."
)


@dataclass(frozen=True, slots=True)
class RunRecoveryRules:
    """What differs by version: compactions after a timeout, and whether runRetries is read."""

    max_timeout_compactions: int
    configurable_retries: bool


OPENCLAW_2026_3: Final = RunRecoveryRules(max_timeout_compactions=0, configurable_retries=False)
OPENCLAW_2026_4_20: Final = RunRecoveryRules(max_timeout_compactions=2, configurable_retries=False)
OPENCLAW_2026_5_28: Final = RunRecoveryRules(max_timeout_compactions=2, configurable_retries=True)
OPENCLAW_2026_9: Final = RunRecoveryRules(max_timeout_compactions=2, configurable_retries=False)


@dataclass(frozen=True, slots=True)
class RecoveryCounters:
    """What a run has spent; the counters live as long as the run, there is no cool-down in time."""

    overflow_compactions: int = 0
    timeout_compactions: int = 0
    truncations: int = 0


@dataclass(frozen=True, slots=True)
class OverflowSituation:
    """What is known when a prompt overflowed.

    ``compaction_failed``: the error is a compaction's own. ``attempt_compacted``: the attempt had
    already compacted, so the prompt is just tried again. ``compaction_tried``: the compaction of this
    step was run and compacted nothing; ``no_real_conversation``: because there was none to compact,
    after a pre-prompt check, whose token count was wrong then. ``results_over_limits``: tool results
    are over a single or the aggregate limit.
    """

    compaction_failed: bool = False
    attempt_compacted: bool = False
    compaction_tried: bool = False
    no_real_conversation: bool = False
    results_over_limits: bool = False


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """The parts of the limit on a run's attempts (``runRetries``)."""

    base: int | float = 24
    per_profile: int | float = 8
    min: int | float = 32
    max: int | float = 160


def retry_limits(rules: RunRecoveryRules, config: object, agent_id: str | None) -> RetryLimits:
    """``runRetries`` of the agent, key by key over the defaults'; ``max`` is at least ``min``."""
    if not rules.configurable_retries:
        return RetryLimits()
    owners = (
        value_at(agent_entry(config, agent_id), "runRetries"),
        value_at(config, "agents", "defaults", "runRetries"),
    )
    usual = RetryLimits()

    def setting(key: str, default: float) -> int | float:
        given = (value_at(owner, key) for owner in owners)
        return next((value for value in given if js.is_finite(value)), default)

    least = setting("min", usual.min)
    return RetryLimits(
        base=setting("base", usual.base),
        per_profile=setting("perProfile", usual.per_profile),
        min=least,
        max=max(setting("max", usual.max), least),
    )


def max_iterations(
    rules: RunRecoveryRules, config: object, profiles: int, agent_id: str | None = None
) -> int | float:
    """How many attempts a run has, with ``profiles`` credentials to rotate through."""
    limits = retry_limits(rules, config, agent_id)
    wanted = limits.base + max(1, profiles) * limits.per_profile
    return min(limits.max, max(limits.min, wanted))


def agent_entry(config: object, agent_id: str | None) -> Mapping[str, Any] | None:
    """The entry of ``agents.list`` for an id; ids are compared in their normal form."""
    listed = value_at(config, "agents", "list")
    if not agent_id or not isinstance(listed, list):
        return None
    wanted = normal_agent_id(agent_id)
    entries = (entry for entry in listed if isinstance(entry, Mapping))
    return next((each for each in entries if normal_agent_id(each.get("id")) == wanted), None)


def recover_from_overflow(
    rule_set: str, counters: RecoveryCounters, overflow: OverflowSituation
) -> Decision:
    """The next step after an overflow: ``retry``, ``compact``, ``truncate`` or ``give_up``.

    The caller counts: a retry after a compaction of the attempt's own is one overflow compaction.
    """
    spent = counters.overflow_compactions >= MAX_OVERFLOW_COMPACTIONS
    can_compact = not (overflow.compaction_failed or spent or overflow.compaction_tried)
    can_truncate = overflow.results_over_limits and counters.truncations < MAX_TRUNCATIONS
    if overflow.compaction_tried and overflow.no_real_conversation:
        outcome, reason = "retry", "token_count_reset"
    elif can_compact and overflow.attempt_compacted:
        outcome, reason = "retry", "attempt_already_compacted"
    elif can_compact:
        outcome, reason = "compact", "overflow_compaction"
    elif can_truncate:
        outcome, reason = "truncate", "tool_results_over_limits"
    else:
        outcome = "give_up"
        reason = "compaction_failure" if overflow.compaction_failed else "context_overflow"
    return Decision(
        rule="overflow_recovery",
        fired=outcome != "give_up",
        outcome=outcome,
        reason=reason,
        rule_set=rule_set,
        inputs={
            "overflowCompactions": counters.overflow_compactions,
            "truncations": counters.truncations,
        },
        steps=_ATTEMPTS,
    )


def overflow_token_count(observed: int | None, window: int | float) -> int | float:
    """The prompt's size handed to the compaction: as the provider counted it, else just too large."""
    return window + 1 if observed is None else observed


def recover_from_timeout(
    rules: RunRecoveryRules,
    rule_set: str,
    counters: RecoveryCounters,
    prompt_tokens: float,
    window: float,
    *,
    during_compaction_or_tool: bool = False,
) -> Decision:
    """Whether a run that timed out is compacted and tried again: its prompt filled over 65 %."""
    ratio = prompt_tokens / window if window > 0 else 0.0
    reason = "prompt_fills_window"
    if during_compaction_or_tool:
        reason = "timed_out_in_compaction_or_tool"
    elif counters.timeout_compactions >= rules.max_timeout_compactions:
        reason = "timeout_compactions_spent"
    elif not ratio > TIMEOUT_RECOVERY_RATIO:
        reason = "prompt_below_ratio"
    fired = reason == "prompt_fills_window"
    return Decision(
        rule="timeout_recovery",
        fired=fired,
        outcome="compact" if fired else "none",
        reason=reason,
        rule_set=rule_set,
        inputs={"promptTokens": prompt_tokens, "contextWindow": window},
        steps=(
            Step("filled", "promptTokens / contextWindow", ratio, "ratio"),
            Step("limit", "filled > 0.65", TIMEOUT_RECOVERY_RATIO, "ratio"),
        ),
    )


def timed_out_in_compaction(timed_out: bool, pending_or_retrying: bool, in_flight: bool) -> bool:
    """Whether a run's timeout is to be blamed on a compaction."""
    return timed_out and (pending_or_retrying or in_flight)


def timeout_action(
    pending_or_retrying: bool, in_flight: bool, grace_used: bool
) -> Literal["extend", "abort"]:
    """A run that times out while a compaction works gets one more term."""
    return "extend" if (pending_or_retrying or in_flight) and not grace_used else "abort"
