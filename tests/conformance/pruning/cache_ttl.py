"""Golden cases of cache-TTL pruning and history images (spec pruning 12 and 13)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.pruning import (
    cache_touch,
    cache_ttl,
    cache_ttl_settings,
    cache_ttl_trim,
    duration,
    eligibility,
    history_images,
    thinking,
    tool_patterns,
)
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens.pruner_chars import pruner_context_chars, pruner_message_chars
from tests.conformance.pruning.protocol import NOW_MS, Adapter, by_position, encode


def _settings(raw: Any, rules: RuleSet) -> cache_ttl_settings.CacheTtlSettings:
    given = {"mode": "cache-ttl", **(raw or {})}
    settings = cache_ttl_settings.cache_ttl_settings(given, rules.pruning.cache_ttl.durations)
    assert settings is not None
    return settings


def effective_settings(args: dict[str, Any], rules: RuleSet) -> Any:
    settings = cache_ttl_settings.cache_ttl_settings(
        args.get("raw"), rules.pruning.cache_ttl.durations
    )
    if settings is None:
        return None
    soft, hard = settings.soft_trim, settings.hard_clear
    return {
        "mode": cache_ttl_settings.CACHE_TTL_MODE,
        "ttlMs": settings.ttl_ms,
        "keepLastAssistants": settings.keep_last_assistants,
        "softTrimRatio": settings.soft_trim_ratio,
        "hardClearRatio": settings.hard_clear_ratio,
        "minPrunableToolChars": settings.min_prunable_tool_chars,
        "tools": settings.tools,
        "softTrim": {
            "maxChars": soft.max_chars,
            "headChars": soft.head_chars,
            "tailChars": soft.tail_chars,
        },
        "hardClear": {"enabled": hard.enabled, "placeholder": hard.placeholder},
    }


def tool_prunable(args: dict[str, Any], _rules: RuleSet) -> Any:
    return list(map(tool_patterns.prunable_tools(args["tools"]), args["names"]))


def soft_trim(args: dict[str, Any], rules: RuleSet) -> Any:
    settings = _settings(args.get("settings"), rules)
    trimmed = cache_ttl_trim.soft_trimmed(
        args["message"], settings.soft_trim, rules.pruning.cache_ttl.chars
    )
    return encode(trimmed)


def prune(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    pruned = cache_ttl.prune_context(
        messages,
        _settings(args.get("settings"), rules),
        rules,
        window_tokens=args.get("contextWindowTokens"),
        model_window_tokens=args.get("modelContextWindow"),
        drop_thinking_blocks=bool(args.get("dropThinkingBlocksForEstimate")),
    )
    chars = rules.pruning.cache_ttl.chars
    return {
        "same": pruned.messages is messages,
        "charsBefore": pruner_context_chars(messages, chars),
        "charsAfter": pruner_context_chars(pruned.messages, chars),
        "messages": by_position(pruned.messages, messages),
    }


def extension(args: dict[str, Any], rules: RuleSet) -> Any:
    settings = None if args.get("noRuntime") else _settings(args.get("settings"), rules)
    touched = None if args.get("noRuntime") else args.get("lastCacheTouchAt")
    rows = []
    for step in args["steps"]:
        pruned = cache_ttl.prune_call(
            step["messages"],
            settings,
            rules,
            now_ms=step["now"],
            touched_at_ms=touched,
            window_tokens=args.get("contextWindowTokens"),
            model_window_tokens=(args.get("model") or {}).get("contextWindow"),
            drop_thinking_blocks=bool(args.get("dropThinkingBlocks")),
        )
        touched = pruned.touched_at_ms
        returned = pruned.messages is not step["messages"]
        row: dict[str, Any] = {"returned": returned, "lastCacheTouchAt": touched}
        if returned:
            row["messages"] = by_position(pruned.messages, step["messages"])
        rows.append(row)
    return rows


def last_touch(args: dict[str, Any], rules: RuleSet) -> Any:
    context = args.get("context") or {}
    return cache_touch.last_cache_touch_ms(
        [] if args.get("noManager") else args["entries"],
        rules.pruning.cache_touch,
        provider=context.get("provider"),
        model_id=context.get("modelId"),
    )


def marker(args: dict[str, Any], rules: RuleSet) -> Any:
    flags = {**args, **(args.get("flags") or {})}
    now = args.get("nowArg")
    touch = cache_touch.cache_touch_marker(
        args.get("config"),
        args["provider"],
        args["modelId"],
        rules,
        NOW_MS if now is None else now,
        eligible=args["eligible"],
        compacted=bool(flags.get("compactionOccurredThisAttempt")),
        timed_out=bool(flags.get("timedOutDuringCompaction")),
    )
    written = [] if touch.data is None else [[cache_touch.CACHE_TTL_ENTRY, touch.data]]
    return {"result": touch.decision.fired, "written": written}


def eligible(args: dict[str, Any], rules: RuleSet) -> Any:
    decision = eligibility.cache_ttl_eligible(
        args["provider"], args["modelId"], rules, args.get("modelApi")
    )
    return decision.fired


def without_thinking(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    done = thinking.drop_thinking(messages, rules.pruning.thinking)
    return {"same": done.messages is messages, "messages": by_position(done.messages, messages)}


def without_images(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    done = history_images.prune_history_images(messages, rules.pruning.history_images)
    if done.messages is messages:
        return None
    return {"messages": by_position(done.messages, messages)}


FUNCTIONS: dict[str, Adapter] = {
    "estimateStringChars": lambda a, r: r.pressure.weight(a["text"]),
    "prunerEstimateMessageChars": lambda a, r: pruner_message_chars(
        a["message"], r.pruning.cache_ttl.chars
    ),
    "prunerEstimateContextChars": lambda a, r: pruner_context_chars(
        a["messages"], r.pruning.cache_ttl.chars
    ),
    "takeHeadFromJoinedText": lambda a, r: encode(
        cache_ttl_trim.head_of(a["parts"], a["maxChars"])
    ),
    "takeTailFromJoinedText": lambda a, r: encode(
        cache_ttl_trim.tail_of(a["parts"], a["maxChars"])
    ),
    "findAssistantCutoffIndex": lambda a, r: cache_ttl.assistant_cutoff(
        a["messages"], a["keepLastAssistants"]
    ),
    "computeEffectiveSettings": effective_settings,
    "parseDurationMs": lambda a, r: duration.parse_duration_ms(
        a["raw"], r.pruning.cache_ttl.durations, a.get("defaultUnit") or "ms"
    ),
    "toolPrunable": tool_prunable,
    "softTrimToolResultMessage": soft_trim,
    "dropThinkingBlocks": without_thinking,
    "pruneContextMessages": prune,
    "contextPruningExtension": extension,
    "readLastCacheTtlTimestamp": last_touch,
    "appendAttemptCacheTtlIfNeeded": marker,
    "isCacheTtlEligibleProvider": eligible,
    "pruneProcessedHistoryImages": without_images,
}
