"""Triggers, overflow and limits: ``trigger.*``, ``overflow.*``, ``timeout.*``, ``retry.*``, ``hint.*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.budget import runtime_settings
from compaction_app.engine.inner_trigger import (
    RunState,
    check_inner_trigger,
    exceeds_threshold,
    latest_compaction_ms,
)
from compaction_app.engine.overflow import classify_overflow, is_context_overflow
from compaction_app.engine.recovery_limits import (
    max_iterations,
    timed_out_in_compaction,
    timeout_action,
)
from compaction_app.engine.reset_hint import hinted_window, suggested_reserve_floor
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.timeout_snapshot import timeout_snapshot
from tests.conformance.budgets.protocol import present


def _check(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args.get("messages", [])
    state = RunState(
        settings=runtime_settings({"compaction": args["settings"]}),
        model=args.get("model"),
        messages=messages,
        latest_compaction_ms=latest_compaction_ms(args.get("branch", [])),
        overflow_attempted=args.get("overflowRecoveryAttempted", False),
    )
    found = check_inner_trigger(
        rules.inner_trigger,
        rules.id,
        args["assistant"],
        state,
        skip_aborted=args.get("skipAbortedCheck", True),
    )
    reason = "overflow" if found.retry else "threshold"
    event = present(
        type="compaction_end",
        reason="overflow",
        aborted=False,
        willRetry=False,
        errorMessage=found.error,
    )
    return {
        "returned": found.compacts,
        "calls": [{"reason": reason, "willRetry": found.retry}] if found.compacts else [],
        "events": [event] if found.error else [],
        "overflowRecoveryAttempted": found.overflow_attempted,
        "messagesLeft": len(messages) - found.drops_last_message,
    }


def _classify(args: dict[str, Any], rules: RuleSet) -> Any:
    verdict = classify_overflow(rules.overflow, rules.id, args.get("text"))
    return {
        "overflow": verdict.overflow,
        "likely": verdict.likely,
        "compactionFailure": verdict.compaction_failure,
        "observedTokens": verdict.observed_tokens,
    }


def _snapshot(args: dict[str, Any], rules: RuleSet) -> Any:
    found = timeout_snapshot(
        rules.timeout_snapshot,
        timed_out_in_compaction=args["timedOutDuringCompaction"],
        current=args["currentSnapshot"],
        current_session_id=args["currentSessionId"],
        before=args.get("preCompactionSnapshot"),
        before_session_id=args["preCompactionSessionId"],
    )
    return {
        "messagesSnapshot": found.messages,
        "sessionIdUsed": found.session_id,
        "source": found.source,
    }


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "trigger.shouldCompact": lambda a, r: exceeds_threshold(
        a["contextTokens"],
        a["contextWindow"],
        runtime_settings({"compaction": a["settings"]}),
    ),
    "trigger.check": _check,
    "overflow.message": lambda a, r: is_context_overflow(
        r.inner_trigger.overflow, a["message"], a.get("contextWindow", 0)
    ),
    "overflow.classify": _classify,
    "timeout.flag": lambda a, r: timed_out_in_compaction(
        a["isTimeout"], a["isCompactionPendingOrRetrying"], a["isCompactionInFlight"]
    ),
    "timeout.resolve": lambda a, r: timeout_action(
        a["isCompactionPendingOrRetrying"], a["isCompactionInFlight"], a["graceAlreadyUsed"]
    ),
    "timeout.snapshot": _snapshot,
    "retry.maxIterations": lambda a, r: max_iterations(
        r.run_recovery, a.get("cfg"), a["profiles"], a.get("agentId")
    ),
    "hint.reserveFloor": lambda a, r: suggested_reserve_floor(
        hinted_window(a.get("cfg"), a.get("agentId"), a.get("contextWindow"))
    ),
}
