"""Every gate explains itself, whether it fires or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from compaction_app.engine.budget import CompactionSettings, apply_settings
from compaction_app.engine.compaction_mode import inner_trigger_switch
from compaction_app.engine.decision import Decision
from compaction_app.engine.flush_plan import flush_plan
from compaction_app.engine.flush_run import FlushSituation, decide_flush
from compaction_app.engine.inner_trigger import RunState, check_inner_trigger
from compaction_app.engine.last_usage import LastUsage, TranscriptEstimate
from compaction_app.engine.preflight import PreflightSituation, decide_preflight
from compaction_app.engine.reasons import SENTENCES
from compaction_app.engine.recovery_limits import (
    OverflowSituation,
    RecoveryCounters,
    recover_from_overflow,
    recover_from_timeout,
)
from compaction_app.engine.routing import Prompt, route_prompt
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.run_window import resolve_run_window
from compaction_app.engine.window import WindowRequest, resolve_window
from compaction_app.engine.window_guard import GuardedWindow, guard_window
from sessions_app.transcripts.usage import Usage

WINDOW = 96_000
LISTED = {"models": {"providers": {"p": {"models": [{"id": "m", "contextWindow": WINDOW}]}}}}
CAPPED = {**LISTED, "agents": {"defaults": {"contextTokens": 32_000}}}


def flushes(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    plan = flush_plan({}, 0, rules.flush_plan)

    def decide(total: Any, size: int = 0, last: Any = None, **more: Any) -> Decision:
        entry = None if total is None else {"totalTokens": total, "totalTokensFresh": True, **more}
        at = FlushSituation(plan, entry, WINDOW, 10)
        return decide_flush(at, last, size, rules.id).decision

    yield decide(72_000), True
    yield decide(10, last=LastUsage(9, Usage(input=71_990), 0)), True
    yield decide(10, size=3_000_000), True
    yield decide(10), False
    yield decide(None), False
    yield decide(72_000, memoryFlushCompactionCount=0), False
    for skip in (
        {"plan": None},
        {"is_heartbeat": True},
        {"is_cli_provider": True},
        {"can_write_workspace": False},
    ):
        fields = {"plan": plan, "entry": {"totalTokens": 90_000}, "window": WINDOW} | skip
        yield decide_flush(FlushSituation(**fields), None, None, rules.id).decision, False


def preflights(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    family = rules.preflight
    if family is None:
        return

    def decide(entry: Any, prompt_tokens: int = 0, size: Any = None, **more: Any) -> Decision:
        at = PreflightSituation(entry, WINDOW, 20_000, 4_000, **more)
        found = decide_preflight(family, at, TranscriptEstimate(prompt_tokens), size, rules.id)
        return found.decision

    line = 72_000 if family.subtracts_soft else 76_000
    yield decide({"totalTokensFresh": False}, line), True
    yield decide({"totalTokensFresh": False}, line - 1), False
    yield decide({"totalTokensFresh": False}), False
    fresh = rules.session_index.fresh_fields
    yield decide({"totalTokens": line, **fresh}), not family.total_is_enough
    yield decide({"totalTokens": 5}, size=9, max_active_bytes=9), family.reads_size
    yield decide(None), False
    for skip in ("is_heartbeat", "is_cli_provider", "is_codex_runtime"):
        yield decide({"totalTokens": 90_000}, **{skip: True}), False


def routes(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    if rules.routing is None:
        return
    result = {"role": "toolResult", "content": [{"type": "text", "text": "x" * 90_000}]}
    words = {"role": "user", "content": "x" * 400_000}
    for messages, fired in (
        ([], False),
        ([words], True),
        ([result] * 9, True),
        ([result, words], True),
    ):
        found = route_prompt(
            rules.routing, rules.pruning.recovery, rules.id, Prompt(messages), WINDOW, 20_000
        )
        yield found.decision, fired


def inner_triggers(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    model = {"provider": "p", "id": "m", "contextWindow": WINDOW}
    answer = {
        "role": "assistant", "provider": "p", "model": "m", "stopReason": "stop", "timestamp": 5,
    }  # fmt: skip
    error = {**answer, "stopReason": "error", "errorMessage": "prompt is too long"}

    def check(message: Any, tokens: int = 0, **state: Any) -> Decision:
        seen = {**message, "usage": {"input": tokens}}
        at = RunState(**{"settings": CompactionSettings(), "model": model, **state})
        return check_inner_trigger(rules.inner_trigger, rules.id, seen, at).decision

    yield check(answer, 79_617), True
    yield check(error), True
    yield check(answer, 79_616), False
    yield check(error, overflow_attempted=True), False
    yield check(answer, 90_000, settings=CompactionSettings(enabled=False)), False
    yield check({**answer, "stopReason": "aborted"}, 90_000), False
    yield check(answer, 90_000, latest_compaction_ms=5), False
    yield check({**error, "errorMessage": "boom"}), False


def switches(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    family, replaces = rules.compaction_mode, rules.compaction_mode.safeguard_replaces_trigger
    yield inner_trigger_switch(family, rules.id), False
    yield inner_trigger_switch(family, rules.id, engine_owns_compaction=True), True
    yield inner_trigger_switch(family, rules.id, mode="safeguard"), replaces
    yield inner_trigger_switch(family, rules.id, silent_overflow=True), replaces


def guards(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    family = rules.window_guard
    for tokens, fired in (
        (WINDOW, False),
        (7_999, True),
        (3_999, True),
        (0, family.blocks_unknown),
    ):
        yield guard_window(family, rules.id, GuardedWindow(tokens, "model")).decision, fired


def windows(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    chain = rules.window_chain
    known, unknown = WindowRequest(LISTED, "m", "p"), WindowRequest({}, "m", "p")
    yield resolve_window(chain, {"m": WINDOW}, known).decision(rules.id, "flush"), True
    yield resolve_window(chain, {}, unknown).decision(rules.id, "status"), False
    for config in ({}, LISTED, CAPPED):
        found = resolve_run_window(rules.run_window, config, "p", "m", {})
        yield found.decision(rules.id, "run"), True


def settings(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    yield apply_settings(rules.budget, rules.id, {}, WINDOW).decision, True
    none = {"agents": {"defaults": {"compaction": {"reserveTokensFloor": 0}}}}
    # Where no setting is read, a quarter of this window is the runtime's own reserve.
    window = WINDOW if rules.budget.configurable else 65_536
    yield apply_settings(rules.budget, rules.id, none, window).decision, False


def recoveries(rules: RuleSet) -> Iterator[tuple[Decision, bool]]:
    fresh, spent = RecoveryCounters(), RecoveryCounters(9, 9, 9)
    yield recover_from_overflow(rules.id, fresh, OverflowSituation()), True
    yield recover_from_overflow(rules.id, spent, OverflowSituation()), False
    may = rules.run_recovery.max_timeout_compactions > 0
    yield recover_from_timeout(rules.run_recovery, rules.id, fresh, 66, 100), may
    yield recover_from_timeout(rules.run_recovery, rules.id, fresh, 65, 100), False


GATES = (
    flushes, preflights, routes, inner_triggers, switches, guards, windows, settings, recoveries,
)  # fmt: skip


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.__name__)
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.id)
def test_a_gate_says_what_it_compared_whether_it_fires_or_not(gate: Any, rules: RuleSet) -> None:
    for decision, fired in gate(rules):
        assert decision.fired is fired, decision
        assert decision.rule_set == rules.id
        assert re.fullmatch("[a-z]+(_[a-z]+)*", decision.rule)
        assert re.fullmatch("[a-z0-9]+(_[a-z0-9]+)*", decision.reason)
        assert decision.reason in SENTENCES
        assert decision.outcome
        assert decision.inputs
        assert any(value is not None for value in decision.inputs.values())
        assert decision.steps and all(step.name and step.formula for step in decision.steps)
        if decision.rule != "context_window":  # there every source asked is a step, silent ones too
            assert any(step.value is not None for step in decision.steps)


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.__name__)
def test_the_walk_sees_every_gate_both_ways(gate: Any) -> None:
    latest = list(RULE_SETS.values())[-1]
    assert {decision.fired for decision, _ in gate(latest)} == {True, False}
