"""Weights, budgets and remembered forms of tool results in 2026.9 (spec profiles 5.3 to 5.8 and 6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from compaction_app.engine.pruning import (
    cache_ttl_settings,
    cache_ttl_trim,
    caps,
    elision,
    guard,
    projecting,
    projection,
    server_clearing,
    tool_patterns,
)
from compaction_app.engine.routing import Prompt, estimate_of
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import tool_schema_pressure
from sessions_app.tokens.pruner_chars import pruner_message_chars
from sessions_app.tokens.text_weight import head_within, tail_within, text_weight
from tests.conformance.pruning.protocol import by_position

Args = dict[str, Any]


def _slice(args: Args, _rules: RuleSet) -> Any:
    within = tail_within if args["tail"] else head_within
    return within(args["text"], args["maxChars"], args["minimumRawWeight"])


def _boundary(args: Args, rules: RuleSet) -> Any:
    assert rules.routing is not None
    prompt = Prompt(args["messages"], args["prompt"], args.get("systemPrompt"))
    return estimate_of(rules.routing, prompt.messages, prompt)[0]


def _aggregate(args: Args, rules: RuleSet) -> Any:
    window, single = args["contextWindowTokens"], args.get("perResultMaxChars")
    single = caps.max_chars(window, rules.pruning.caps) if single is None else single
    return rules.pruning.recovery.aggregate_budget(single, window)


def _settings(config: Any, rules: RuleSet) -> cache_ttl_settings.CacheTtlSettings | None:
    pruner = rules.pruning.cache_ttl
    return cache_ttl_settings.cache_ttl_settings(
        config, pruner.durations, only_basics=pruner.only_basics
    )


def settings(args: Args, rules: RuleSet) -> Any:
    found = _settings(args["config"], rules)
    if found is None:
        return None
    return {
        "ttlMs": found.ttl_ms,
        "hardClear": found.hard_clear.enabled,
        "placeholder": found.hard_clear.placeholder,
        "prunable": list(map(tool_patterns.prunable_tools(found.tools), args["tools"])),
    }


def soft(args: Args, rules: RuleSet) -> Any:
    trimmed = cache_ttl_trim.soft_trimmed(
        args["message"], cache_ttl_settings.SoftTrim(), rules.pruning.cache_ttl.chars
    )
    return {"same": trimmed is None, "message": trimmed}


def projected(args: Args, rules: RuleSet) -> Any:
    state, rows = projection.ProjectionState(), []
    for step in args["steps"]:
        if "restore" in step:
            state = projection.restored_state(step["restore"])
            rows.append({"state": _state(state)})
            continue
        messages = step["messages"]
        if "prune" in step:
            done = _pruned(step["prune"], messages, state, rules)
            row: dict[str, Any] = {"pruned": done.pruned}
        else:
            window = step["contextWindowTokens"]
            done = projecting.project_prompt(messages, state, rules, window_tokens=window)
            row = _plan(done)
        state = done.state
        row["same"] = done.messages is messages
        row["messages"] = by_position(done.messages, messages)
        rows.append({**row, "state": _state(state)})
    return rows


def _pruned(
    given: Args, messages: list[Any], state: projection.ProjectionState, rules: RuleSet
) -> projecting.Projected:
    return projecting.project_pruning(
        messages,
        state,
        _settings({"mode": "cache-ttl", **(given.get("config") or {})}, rules),
        rules,
        now_ms=given["now"],
        touched_at_ms=given["lastCacheTouchAt"],
        window_tokens=given["contextWindowTokens"],
        new_rounds=given.get("pruneNewRounds") is not False,
    )


def _plan(done: projecting.Projected) -> Args:
    plan = done.plan
    assert plan is not None
    return {
        "truncatedCount": len(plan.replacements),
        "aggregateTruncatedCount": plan.aggregate_count,
        "aggregatePressureEngaged": plan.over_aggregate_budget,
        "aggregateBudgetChars": plan.aggregate_budget_chars,
    }


def _state(state: projection.ProjectionState) -> Args:
    def listed(keys: Any) -> list[str]:
        return sorted(keys, key=js.utf16_sort_key)

    modes = {key: held.mode for key, held in state.replacements.items()}
    return {
        "frozen": listed(state.frozen),
        "replaced": [[k, None if modes[k] == "none" else modes[k]] for k in listed(modes)],
        "ambiguous": listed(state.ambiguous),
        "restored": [[key, state.restored[key].mode] for key in listed(state.restored)],
    }


def clearing(args: Args, _rules: RuleSet) -> Any:
    asked, beta = server_clearing.context_management(
        args["model"], args["options"], args["payload"], args.get("betaHeader")
    )
    return {"context_management": asked, "beta": beta}


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "boundaryPressure": _boundary,
    "cacheTtlChars": lambda a, r: pruner_message_chars(a["message"], r.pruning.cache_ttl.chars),
    "cacheTtlSettings": settings,
    "cacheTtlSoft": soft,
    "clearToolResultText": lambda a, r: elision.elided(
        a["message"], a.get("maxTextChars", math.inf)
    ),
    "contextMaxChars": lambda a, r: (
        guard.guard_limits(a["contextWindowTokens"], r.pruning.guard).single_chars
    ),
    "liveAggregateMaxChars": _aggregate,
    "projection": projected,
    "serverToolClearing": clearing,
    "sliceToBudget": _slice,
    "toolSchemaPressure": lambda a, r: tool_schema_pressure(a["tools"], r.pressure),
    "weightedChars": lambda a, r: text_weight(a["text"], a.get("minimumRawWeight", 1)),
}
