"""The rule sets: which version's constants and variants apply.

A rule set bundles one record per rule family. The record's class and its versions stand in the module
of the rule (constants live once, with their spec section); this module only says which version uses
which. Nothing else in the code asks for a version.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from compaction_app.engine import (
    budget,
    compaction_mode,
    flush_plan,
    flush_run,
    inner_trigger,
    overflow_patterns,
    preflight,
    purpose_window,
    recovery_limits,
    routing,
    run_window,
    server_threshold,
    silent_reply,
    timeout_snapshot,
    window,
    window_cache,
    window_guard,
)
from compaction_app.engine.compaction import versions as compaction
from compaction_app.engine.composition import versions as composition
from compaction_app.engine.config import materialize, per_agent, schema
from compaction_app.engine.pruning.versions import (
    PRUNING_2026_3,
    PRUNING_2026_4_20,
    PRUNING_2026_5_28,
    PRUNING_2026_9,
    PruningRules,
)
from compaction_app.engine.turn import order as turn_order
from sessions_app.tokens import loop_chars, message_tokens, pressure
from sessions_app.transcripts.session_index import (
    INDEX_2026_4_20,
    INDEX_2026_5_28,
    INDEX_2026_9,
    IndexRules,
)
from sessions_app.transcripts.usage import USAGE_2026_4_20, USAGE_2026_5_28, UsageRules


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Constants and rule variants of one runtime version."""

    id: str
    runtime_version: str
    usage: UsageRules
    session_index: IndexRules
    flush_plan: flush_plan.FlushPlanRules
    flush_run: flush_run.FlushRunRules
    preflight: preflight.PreflightRules | None
    server_threshold: server_threshold.ServerThresholdRules
    silent_reply: silent_reply.SilentRules
    config: schema.ConfigRules
    materialize: materialize.MaterializeRules
    per_agent: per_agent.PerAgentRules
    pruning: PruningRules
    message_tokens: message_tokens.MessageTokenRules
    pressure: pressure.PressureRules
    loop_chars: loop_chars.LoopCharRules
    compaction: compaction.CompactionRules
    composition: composition.CompositionRules
    window_cache: window_cache.CacheRules
    window_chain: window.ChainRules
    run_window: run_window.RunWindowRules
    purpose_window: purpose_window.PurposeWindowRules
    window_guard: window_guard.GuardRules
    budget: budget.BudgetRules
    compaction_mode: compaction_mode.CompactionModeRules
    routing: routing.RoutingRules | None
    inner_trigger: inner_trigger.InnerTriggerRules
    overflow: overflow_patterns.OuterOverflowRules
    run_recovery: recovery_limits.RunRecoveryRules
    timeout_snapshot: timeout_snapshot.SnapshotRules
    turn: turn_order.TurnRules


OPENCLAW_2026_3 = RuleSet(
    id="openclaw-2026.3",
    runtime_version="2026.3.13",
    usage=USAGE_2026_4_20,
    session_index=INDEX_2026_4_20,
    flush_plan=flush_plan.OPENCLAW_2026_3,
    flush_run=flush_run.OPENCLAW_2026_4_20,
    preflight=None,
    server_threshold=server_threshold.OPENCLAW_2026_5_28,
    silent_reply=silent_reply.OPENCLAW_2026_4_20,
    config=schema.OPENCLAW_2026_4_20,
    materialize=materialize.OPENCLAW_2026_4_20,
    per_agent=per_agent.OPENCLAW_2026_4_20,
    pruning=PRUNING_2026_3,
    message_tokens=message_tokens.OPENCLAW_2026_3,
    pressure=pressure.OPENCLAW_2026_5_28,
    loop_chars=loop_chars.OPENCLAW_2026_3,
    compaction=compaction.COMPACTION_2026_3,
    composition=composition.COMPOSITION_2026_3,
    window_cache=window_cache.OPENCLAW_2026_3,
    window_chain=window.OPENCLAW_2026_3,
    run_window=run_window.OPENCLAW_2026_3,
    purpose_window=purpose_window.OPENCLAW_2026_3,
    window_guard=window_guard.OPENCLAW_2026_3,
    budget=budget.OPENCLAW_2026_3,
    compaction_mode=compaction_mode.OPENCLAW_2026_3,
    routing=None,
    inner_trigger=inner_trigger.InnerTriggerRules(
        overflow_patterns.INNER_2026_3, message_tokens.OPENCLAW_2026_3
    ),
    overflow=overflow_patterns.OUTER_2026_3,
    run_recovery=recovery_limits.OPENCLAW_2026_3,
    timeout_snapshot=timeout_snapshot.OPENCLAW_2026_3,
    turn=turn_order.OPENCLAW_2026_3,
)
OPENCLAW_2026_4_20 = RuleSet(
    id="openclaw-2026.4.20",
    runtime_version="2026.4.20",
    usage=USAGE_2026_4_20,
    session_index=INDEX_2026_4_20,
    flush_plan=flush_plan.OPENCLAW_2026_4_20,
    flush_run=flush_run.OPENCLAW_2026_4_20,
    preflight=preflight.OPENCLAW_2026_4_20,
    server_threshold=server_threshold.OPENCLAW_2026_5_28,
    silent_reply=silent_reply.OPENCLAW_2026_4_20,
    config=schema.OPENCLAW_2026_4_20,
    materialize=materialize.OPENCLAW_2026_4_20,
    per_agent=per_agent.OPENCLAW_2026_4_20,
    pruning=PRUNING_2026_4_20,
    message_tokens=message_tokens.OPENCLAW_2026_4_20,
    pressure=pressure.OPENCLAW_2026_5_28,
    loop_chars=loop_chars.OPENCLAW_2026_4_20,
    compaction=compaction.COMPACTION_2026_4_20,
    composition=composition.COMPOSITION_2026_4_20,
    window_cache=window_cache.OPENCLAW_2026_4_20,
    window_chain=window.OPENCLAW_2026_4_20,
    run_window=run_window.OPENCLAW_2026_4_20,
    purpose_window=purpose_window.OPENCLAW_2026_4_20,
    window_guard=window_guard.OPENCLAW_2026_4_20,
    budget=budget.OPENCLAW_2026_4_20,
    compaction_mode=compaction_mode.OPENCLAW_2026_4_20,
    routing=routing.OPENCLAW_2026_4_20,
    inner_trigger=inner_trigger.InnerTriggerRules(
        overflow_patterns.INNER_2026_4_20, message_tokens.OPENCLAW_2026_4_20
    ),
    overflow=overflow_patterns.OUTER_2026_4_20,
    run_recovery=recovery_limits.OPENCLAW_2026_4_20,
    timeout_snapshot=timeout_snapshot.OPENCLAW_2026_4_20,
    turn=turn_order.OPENCLAW_2026_4_20,
)
OPENCLAW_2026_5_28 = RuleSet(
    id="openclaw-2026.5.28",
    runtime_version="2026.5.28",
    usage=USAGE_2026_5_28,
    session_index=INDEX_2026_5_28,
    flush_plan=flush_plan.OPENCLAW_2026_5_28,
    flush_run=flush_run.OPENCLAW_2026_5_28,
    preflight=preflight.OPENCLAW_2026_5_28,
    server_threshold=server_threshold.OPENCLAW_2026_5_28,
    silent_reply=silent_reply.OPENCLAW_2026_5_28,
    config=schema.OPENCLAW_2026_5_28,
    materialize=materialize.OPENCLAW_2026_5_28,
    per_agent=per_agent.OPENCLAW_2026_5_28,
    pruning=PRUNING_2026_5_28,
    message_tokens=message_tokens.OPENCLAW_2026_5_28,
    pressure=pressure.OPENCLAW_2026_5_28,
    loop_chars=loop_chars.OPENCLAW_2026_5_28,
    compaction=compaction.COMPACTION_2026_5_28,
    composition=composition.COMPOSITION_2026_5_28,
    window_cache=window_cache.OPENCLAW_2026_5_28,
    window_chain=window.OPENCLAW_2026_5_28,
    run_window=run_window.OPENCLAW_2026_5_28,
    purpose_window=purpose_window.OPENCLAW_2026_5_28,
    window_guard=window_guard.OPENCLAW_2026_5_28,
    budget=budget.OPENCLAW_2026_5_28,
    compaction_mode=compaction_mode.OPENCLAW_2026_5_28,
    routing=routing.OPENCLAW_2026_5_28,
    inner_trigger=inner_trigger.InnerTriggerRules(
        overflow_patterns.INNER_2026_5_28, message_tokens.OPENCLAW_2026_5_28
    ),
    overflow=overflow_patterns.OUTER_2026_5_28,
    run_recovery=recovery_limits.OPENCLAW_2026_5_28,
    timeout_snapshot=timeout_snapshot.OPENCLAW_2026_5_28,
    turn=turn_order.OPENCLAW_2026_5_28,
)

OPENCLAW_2026_9 = replace(
    OPENCLAW_2026_5_28,
    id="openclaw-2026.9",
    runtime_version="2026.9.6",
    turn=turn_order.OPENCLAW_2026_9,
    session_index=INDEX_2026_9,
    flush_plan=flush_plan.OPENCLAW_2026_9,
    preflight=preflight.OPENCLAW_2026_9,
    server_threshold=server_threshold.OPENCLAW_2026_9,
    budget=budget.OPENCLAW_2026_9,
    routing=routing.OPENCLAW_2026_9,
    pressure=pressure.OPENCLAW_2026_9,
    pruning=PRUNING_2026_9,
    message_tokens=message_tokens.OPENCLAW_2026_9,
    loop_chars=loop_chars.OPENCLAW_2026_9,
    window_cache=window_cache.OPENCLAW_2026_9,
    window_chain=window.OPENCLAW_2026_9,
    run_window=run_window.OPENCLAW_2026_9,
    purpose_window=purpose_window.OPENCLAW_2026_9,
    window_guard=window_guard.OPENCLAW_2026_9,
    compaction_mode=compaction_mode.OPENCLAW_2026_9,
    run_recovery=recovery_limits.OPENCLAW_2026_9,
    silent_reply=silent_reply.OPENCLAW_2026_9,
    config=schema.OPENCLAW_2026_9,
    materialize=materialize.OPENCLAW_2026_9,
    per_agent=per_agent.OPENCLAW_2026_9,
    overflow=overflow_patterns.OUTER_2026_9,
    compaction=compaction.COMPACTION_2026_9,
    composition=composition.COMPOSITION_2026_9,
)

RULE_SETS = {
    rules.id: rules
    for rules in (
        OPENCLAW_2026_3,
        OPENCLAW_2026_4_20,
        OPENCLAW_2026_5_28,
        OPENCLAW_2026_9,
    )
}
DEFAULT_RULE_SET = OPENCLAW_2026_5_28
