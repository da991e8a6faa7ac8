"""Context windows and their guard: ``ctx.*`` and ``guard.*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.run_window import model_window, resolve_run_window
from compaction_app.engine.window import WindowRequest, resolve_window
from compaction_app.engine.window_cache import apply_configured, apply_discovered
from compaction_app.engine.window_guard import (
    GuardedWindow,
    GuardVerdict,
    guard_messages,
    guard_thresholds,
    guard_window,
)
from tests.conformance.budgets.protocol import present


def configured(args: dict[str, Any], rules: RuleSet) -> Any:
    return apply_configured(rules.window_cache, args.get("cache", {}), args.get("modelsConfig"))


def discovered(args: dict[str, Any], rules: RuleSet) -> Any:
    return apply_discovered(rules.window_cache, args.get("cache", {}), args["models"])


def for_model(args: dict[str, Any], rules: RuleSet) -> Any:
    params = args["params"]
    request = WindowRequest(
        config=params.get("cfg"),
        model=params.get("model"),
        provider=params.get("provider"),
        override=params.get("contextTokensOverride"),
        fallback=params.get("fallbackContextTokens"),
    )
    return resolve_window(rules.window_chain, args.get("cache", {}), request).tokens


def run_info(args: dict[str, Any], rules: RuleSet) -> Any:
    found = resolve_run_window(
        rules.run_window,
        args.get("cfg"),
        args["provider"],
        args["modelId"],
        {
            "contextTokens": args.get("modelContextTokens"),
            "contextWindow": args.get("modelContextWindow"),
        },
        args.get("defaultTokens"),
    )
    return present(tokens=found.tokens, referenceTokens=found.reference_tokens, source=found.source)


def flush(args: dict[str, Any], rules: RuleSet) -> Any:
    request = WindowRequest(args.get("cfg"), args.get("modelId"), args.get("provider"))
    context_tokens = args.get("agentCfgContextTokens")
    cache = args.get("cache", {})
    return rules.purpose_window.flush(rules.window_chain, cache, request, context_tokens).tokens


def _reply(args: dict[str, Any], rules: RuleSet) -> Any:
    request = WindowRequest(args.get("cfg"), args["model"], args.get("provider"))
    context_tokens = (args.get("agentCfg") or {}).get("contextTokens")
    cache = args.get("cache", {})
    return rules.purpose_window.reply(rules.window_chain, cache, request, context_tokens).tokens


def _verdict(args: dict[str, Any], rules: RuleSet) -> GuardVerdict:
    info = args["info"]
    window = GuardedWindow(info.get("tokens"), info["source"], info.get("referenceTokens"))
    return guard_window(
        rules.window_guard,
        rules.id,
        window,
        hard=args.get("hardMinTokens"),
        warn=args.get("warnBelowTokens"),
    )


def guard(args: dict[str, Any], rules: RuleSet) -> Any:
    verdict = _verdict(args, rules)
    judged = {
        **args["info"],
        "tokens": verdict.tokens,
        "shouldWarn": verdict.should_warn,
        "shouldBlock": verdict.should_block,
    }
    if not rules.window_guard.reports_thresholds:
        return judged
    lines = verdict.thresholds
    return {**judged, "hardMinTokens": lines.hard, "warnBelowTokens": lines.warn}


def _messages(args: dict[str, Any], rules: RuleSet) -> Any:
    texts = guard_messages(
        _verdict(args, rules),
        args["provider"],
        args["modelId"],
        args["info"]["source"],
        args.get("runtimeBaseUrl"),
        rules.window_guard,
    )
    hint = {"endpointClass": texts.endpoint_class, "likelySelfHosted": texts.likely_self_hosted}
    return {"hint": hint, "warn": texts.warn, "block": texts.block}


def _thresholds(args: dict[str, Any], rules: RuleSet) -> Any:
    lines = guard_thresholds(args.get("tokens"))
    return {"hardMinTokens": lines.hard, "warnBelowTokens": lines.warn}


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "ctx.applyConfigured": configured,
    "ctx.applyDiscovered": discovered,
    "ctx.resolveForModel": for_model,
    "ctx.resolveInfo": run_info,
    "ctx.memoryFlushWindow": flush,
    "ctx.modelWindow": lambda a, r: model_window(a.get("model", {})),
    "ctx.replyBudget": _reply,
    "guard.thresholds": _thresholds,
    "guard.evaluate": guard,
    "guard.messages": _messages,
}
