"""Compaction settings, mode and switches: ``settings.*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.budget import apply_settings, runtime_settings
from compaction_app.engine.compaction_mode import (
    compaction_timeout_ms,
    effective_mode,
    inner_trigger_switch,
    overflows_silently,
)
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.budgets.protocol import present


def applied(args: dict[str, Any], rules: RuleSet) -> Any:
    switch = {"enabled": args["enabled"]} if "enabled" in args else {}
    current = runtime_settings({"compaction": {**args.get("current", {}), **switch}})
    found = apply_settings(
        rules.budget, rules.id, args.get("cfg"), args.get("contextTokenBudget"), current
    )
    enabled = found.settings.enabled
    switched = [{"enabled": enabled}] if enabled != current.enabled else []
    overrides = present(reserveTokens=found.reserve_override, keepRecentTokens=found.keep_override)
    return {
        "didOverride": found.did_override,
        "compaction": {
            "reserveTokens": found.settings.reserve_tokens,
            "keepRecentTokens": found.settings.keep_recent_tokens,
        },
        "overrides": [*switched, *([{"compaction": overrides}] if overrides else [])],
    }


def _runtime(args: dict[str, Any], rules: RuleSet) -> Any:
    settings = runtime_settings(args["settings"])
    return {
        "enabled": settings.enabled,
        "reserveTokens": settings.reserve_tokens,
        "keepRecentTokens": settings.keep_recent_tokens,
    }


def _auto_guard(args: dict[str, Any], rules: RuleSet) -> Any:
    return inner_trigger_switch(
        rules.compaction_mode,
        rules.id,
        engine_owns_compaction=(args.get("contextEngineInfo") or {}).get("ownsCompaction"),
        mode=args.get("compactionMode"),
        silent_overflow=args.get("silentOverflowProneProvider"),
    ).fired


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "settings.apply": applied,
    "settings.runtime": _runtime,
    "settings.mode": lambda a, r: effective_mode(a.get("cfg")),
    "settings.autoGuard": _auto_guard,
    "settings.silentOverflowProne": lambda a, r: overflows_silently(
        a.get("provider"), a.get("modelId"), a.get("baseUrl")
    ),
    "settings.timeoutMs": lambda a, r: compaction_timeout_ms(r.compaction_mode, a.get("cfg")),
}
