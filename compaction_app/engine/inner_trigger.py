"""Does the runtime's own auto-compaction fire? (spec budgets 6.1)

Checked after every run and before every prompt, unless it is switched off (``compaction_mode``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.overflow import is_context_overflow
from compaction_app.engine.overflow_patterns import InnerOverflowRules
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import (
    MessageTokenRules,
    context_tokens,
    usage_tokens,
)

RECOVERY_FAILED: Final = (
    "Context overflow recovery failed after one compact-and-retry attempt. "
    "Try reducing context or switching to a larger-context model."
)

Action = Literal["none", "compact_threshold", "compact_overflow", "overflow_again"]


@dataclass(frozen=True, slots=True)
class InnerTriggerRules:
    """The families the check draws on, of one version."""

    overflow: InnerOverflowRules
    tokens: MessageTokenRules


@dataclass(frozen=True, slots=True)
class RunState:
    """What the check sees beside the answer.

    ``model`` is the current model (``provider``, ``id``, ``contextWindow``) or ``None``; ``messages``
    the context, ``latest_compaction_ms`` when its branch was last compacted.
    ``overflow_attempted``: an overflow was compacted away before and not yet answered since.
    """

    settings: CompactionSettings
    model: Mapping[str, Any] | None
    messages: Sequence[Mapping[str, Any]] = ()
    latest_compaction_ms: float | None = None
    overflow_attempted: bool = False

    @property
    def window(self) -> int | float:
        """The model's window; 0, so that the threshold always fires, where there is no model."""
        window = (self.model or {}).get("contextWindow")
        return window if js.is_number(window) and js.is_truthy(window) else 0


@dataclass(frozen=True, slots=True)
class InnerTrigger:
    """What happens: the action, the mark afterwards, and whether the failed answer is dropped first.

    After an overflow the prompt is tried again (``retry``). ``overflow_again`` ends with ``error``.
    """

    action: Action
    overflow_attempted: bool
    drops_last_message: bool
    decision: Decision

    @property
    def compacts(self) -> bool:
        return self.action in ("compact_threshold", "compact_overflow")

    @property
    def retry(self) -> bool:
        return self.action == "compact_overflow"

    @property
    def error(self) -> str | None:
        return RECOVERY_FAILED if self.action == "overflow_again" else None


def exceeds_threshold(tokens: float, window: float, settings: CompactionSettings) -> bool:
    """Whether a context of ``tokens`` is above window minus reserve; strict."""
    return settings.enabled and tokens > window - settings.reserve_tokens


def latest_compaction_ms(branch: Sequence[Mapping[str, Any]]) -> float | None:
    """When the last compaction entry of a branch was written, in milliseconds since 1970."""
    for entry in reversed(branch):
        if entry.get("type") == "compaction":
            return _milliseconds(entry.get("timestamp"))
    return None


def overflow_mark_after(attempted: bool, message: Mapping[str, Any]) -> bool:
    """The mark after a new message: a user's message or an answer without error clears it."""
    if message.get("role") == "user":
        return False
    answered = message.get("role") == "assistant" and message.get("stopReason") != "error"
    return attempted and not answered


def check_inner_trigger(
    rules: InnerTriggerRules,
    rule_set: str,
    answer: Mapping[str, Any],
    state: RunState,
    *,
    skip_aborted: bool = True,
) -> InnerTrigger:
    """Judge an assistant's answer; before a prompt, aborted answers count too (``skip_aborted``)."""
    if not state.settings.enabled:
        return _nothing(state, rule_set, "compaction_disabled")
    if skip_aborted and answer.get("stopReason") == "aborted":
        return _nothing(state, rule_set, "answer_aborted")
    if _is_before_compaction(answer, state):
        return _nothing(state, rule_set, "answer_before_compaction")
    if _is_from(answer, state.model) and is_context_overflow(rules.overflow, answer, state.window):
        return _overflowed(state, rule_set)
    return _judge_threshold(rules, rule_set, answer, state)


def _judge_threshold(
    rules: InnerTriggerRules, rule_set: str, answer: Mapping[str, Any], state: RunState
) -> InnerTrigger:
    if answer.get("stopReason") == "error":
        estimate = context_tokens(state.messages, rules.tokens)
        if estimate.last_usage_index is None:
            return _nothing(state, rule_set, "no_usage")
        if _is_before_compaction(state.messages[estimate.last_usage_index], state):
            return _nothing(state, rule_set, "usage_before_compaction")
        tokens = estimate.tokens
    else:
        usage = answer.get("usage")
        tokens = usage_tokens(usage) if isinstance(usage, Mapping) else 0
    fired = exceeds_threshold(tokens, state.window, state.settings)
    return InnerTrigger(
        action="compact_threshold" if fired else "none",
        overflow_attempted=state.overflow_attempted,
        drops_last_message=False,
        decision=_decision(
            state,
            rule_set,
            outcome="compact" if fired else "none",
            reason="above_threshold" if fired else "below_threshold",
            tokens=tokens,
        ),
    )


def _overflowed(state: RunState, rule_set: str) -> InnerTrigger:
    if state.overflow_attempted:
        decision = _decision(state, rule_set, "fail", "overflow_again")
        return InnerTrigger("overflow_again", True, False, decision)
    last = state.messages[-1] if state.messages else {}
    return InnerTrigger(
        action="compact_overflow",
        overflow_attempted=True,
        drops_last_message=last.get("role") == "assistant",
        decision=_decision(state, rule_set, "compact", "overflow"),
    )


def _nothing(state: RunState, rule_set: str, reason: str) -> InnerTrigger:
    decision = _decision(state, rule_set, "none", reason)
    return InnerTrigger("none", state.overflow_attempted, False, decision)


def _decision(
    state: RunState,
    rule_set: str,
    outcome: str,
    reason: str,
    tokens: int | float | None = None,
) -> Decision:
    reserve = state.settings.reserve_tokens
    line = Step("innerThreshold", "contextWindow - reserveTokens", state.window - reserve)
    return Decision(
        rule="inner_trigger",
        fired=outcome == "compact",
        outcome=outcome,
        reason=reason,
        rule_set=rule_set,
        inputs={
            "contextTokens": tokens,
            "contextWindow": state.window,
            "reserveTokens": reserve,
        },
        steps=(line,),
    )


def _milliseconds(timestamp: object) -> float | None:
    """A timestamp that cannot be read is older than everything."""
    try:
        moment = datetime.fromisoformat(timestamp) if isinstance(timestamp, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    zone = moment.tzinfo or UTC
    return moment.replace(tzinfo=zone).timestamp() * 1000


def _is_from(answer: Mapping[str, Any], model: Mapping[str, Any] | None) -> bool:
    return (
        model is not None
        and answer.get("provider") == model.get("provider")
        and answer.get("model") == model.get("id")
    )


def _is_before_compaction(message: Mapping[str, Any], state: RunState) -> bool:
    moment = message.get("timestamp")
    compacted = state.latest_compaction_ms
    return compacted is not None and js.is_number(moment) and moment <= compacted
