"""Reserves, lines, gates and windows of 2026.9 (spec profiles 5.1, 5.2 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compaction_app.engine import budget
from compaction_app.engine.flush import Line, flush_line, token_gate
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.window import WindowRequest
from compaction_app.engine.window_cache import apply_configured, owned_key, window_key
from compaction_app.engine.window_owned import authored_limit, configured_model, projected_window

Args = dict[str, Any]


def gate(args: Args, rules: RuleSet) -> Any:
    line = Line(0, 0, 0, 0, args["threshold"])
    found = token_gate(
        args.get("entry"), line, rules.id, args.get("tokenCount"), rules.session_index
    )
    return {
        "flush": found.flush.fired,
        "preflight": found.preflight.fired,
        "alreadyFlushed": found.already_flushed,
    }


def threshold(args: Args, _rules: RuleSet) -> Any:
    return flush_line(
        args["contextWindowTokens"],
        args["reserveTokensFloor"],
        0,
        args.get("minimumThresholdTokens"),
    ).tokens


def server(args: Args, rules: RuleSet) -> Any:
    return server_threshold(
        args.get("cfg"),
        args.get("provider"),
        args.get("modelId"),
        rules.server_threshold,
        args.get("contextWindowTokens"),
    )


def _key(name: str) -> str:
    provider, owned, model = name.partition("|")
    return owned_key(provider, model) if owned else name


def _cache(args: Args) -> dict[str, Any]:
    tokens = {_key(name): value for name, value in (args.get("tokenCache") or {}).items()}
    windows = (args.get("windowCache") or {}).items()
    return tokens | {window_key(_key(name)): value for name, value in windows}


def projection(args: Args, rules: RuleSet) -> Any:
    params = args["params"]
    config, provider, model = (params.get(key) for key in ("cfg", "provider", "model"))
    request = WindowRequest(config, model, provider, fallback=params.get("fallbackContextTokens"))
    found = projected_window(
        rules.window_chain,
        _cache(args),
        request,
        model_tokens=params.get("modelContextTokens"),
        model_window=params.get("modelContextWindow"),
        unscoped=params.get("allowUnscopedModelLookup") is not False,
    )
    row = configured_model(config, provider, model) if provider and model else None
    return {"contextTokens": found.tokens, "authoredContextTokens": authored_limit(row)}


def configured(args: Args, rules: RuleSet) -> Any:
    if not rules.window_cache.owned:
        return apply_configured(rules.window_cache, args.get("cache", {}), args["modelsConfig"])
    windows = args.get("windowCache") or {}
    given = {**args["cache"], **{window_key(name): value for name, value in windows.items()}}
    written: Mapping[str, Any] = apply_configured(rules.window_cache, given, args["modelsConfig"])
    mark = window_key("")
    return {
        "cache": {key: v for key, v in written.items() if not key.startswith(mark)},
        "windowCache": {
            key.removeprefix(mark): v for key, v in written.items() if key.startswith(mark)
        },
    }


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "applyConfigured": configured,
    "compactionThreshold": threshold,
    "contextProjection": projection,
    "effectiveReserve": lambda a, r: budget.effective_reserve(
        a["contextTokenBudget"], a["reserveTokens"]
    ),
    "flushGate": gate,
    "serverThreshold": server,
}
