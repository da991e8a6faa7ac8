"""The safeguard and what it is made of (spec compaction 1.6, 3)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.compaction import (
    history_share,
    preserved_turns,
    real_conversation,
    safeguard,
    safeguard_settings,
    safeguard_source,
)
from compaction_app.engine.compaction.chunks import DEFAULT_PARTS
from compaction_app.engine.compaction.file_operations import FileOperations
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.compaction.driver import Driver
from tests.conformance.compaction.protocol import compact_text, encode_number, positions
from tests.conformance.compaction.summaries import RESERVE_TOKENS, policy

Args = dict[str, Any]
MODEL = {"provider": "fake", "id": "m", "contextWindow": 200_000, "maxTokens": 8192}
NOW_MS = 0
FIRST_KEPT = "keep"


def _prune(args: Args, rules: RuleSet) -> Any:
    messages = args["messages"]
    share = history_share.history_share(
        args.get("maxHistoryShare"), args.get("mode"), rules.compaction.history_share
    )
    found = history_share.prune_history(
        messages,
        args["maxContextTokens"],
        share,
        rules.compaction,
        NOW_MS,
        args.get("parts", DEFAULT_PARTS),
    )
    return {
        "messages": positions(found.messages, messages),
        "droppedMessagesList": positions(found.dropped, messages),
        "droppedChunks": found.dropped_chunks,
        "droppedMessages": found.dropped_messages,
        "droppedTokens": found.dropped_tokens,
        "keptTokens": found.kept_tokens,
        "budgetTokens": encode_number(found.budget_tokens),
    }


def _split(args: Args, rules: RuleSet) -> Any:
    messages = args["messages"]
    found = preserved_turns.split_preserved_turns(
        messages, args.get("recentTurnsPreserve"), rules.compaction.pairing, NOW_MS
    )
    return {
        "summarizable": positions(found.summarizable, messages),
        "preserved": list(found.preserved),
    }


def _real(args: Args, rules: RuleSet) -> Any:
    messages = args["messages"]
    return {
        "any": real_conversation.has_real_conversation(messages, rules.compaction.conversation),
        "each": [
            real_conversation.is_real(messages, i, rules.compaction.conversation)
            for i in range(len(messages))
        ],
    }


def _clamp(args: Args, _: RuleSet) -> Any:
    return {
        "recentTurnsPreserve": preserved_turns.recent_turns(args.get("recentTurnsPreserve")),
        "qualityGuardMaxRetries": safeguard_settings.quality_retries(args.get("maxRetries")),
    }


def _prepend(args: Args, _: RuleSet) -> Any:
    messages = safeguard_source.with_previous_summary(args["messages"], args["previousSummary"])
    return [_wrapped(message) for message in messages]


def _wrapped(message: Args) -> Any:
    opening, closing = "<previous-compaction-summary>\n", "\n</previous-compaction-summary>"
    text = message["content"]
    wrapped = text.startswith(opening) and text.endswith(closing)
    ending = "\n" + text.removesuffix(closing).split("\n\n", 1)[1] if wrapped else ""
    return {
        "role": message["role"],
        "timestamp": message.get("timestamp"),
        "wrapped": wrapped,
        "endsWith": ending,
    }


def _settings(runtime: Args) -> safeguard_settings.SafeguardSettings:
    sections = runtime.get("postCompactionSections")
    return safeguard_settings.SafeguardSettings(
        recent_turns_preserve=runtime.get("recentTurnsPreserve"),
        quality_guard=runtime.get("qualityGuardEnabled", False),
        max_quality_retries=runtime.get("qualityGuardMaxRetries"),
        max_history_share=runtime.get("maxHistoryShare"),
        context_window_tokens=runtime.get("contextWindowTokens"),
        identifiers=policy(runtime),
        custom_instructions=runtime.get("customInstructions"),
        post_compaction_sections=None if sections is None else tuple(sections),
        provider=runtime.get("provider"),
    )


def _task(args: Args) -> safeguard_source.SafeguardTask:
    given = args["preparation"]
    ops = given.get("fileOps") or {}
    lists = (tuple(ops.get(name, ())) for name in ("read", "written", "edited"))
    return safeguard_source.SafeguardTask(
        messages=given["messagesToSummarize"],
        turn_prefix=given.get("turnPrefixMessages", ()),
        is_split_turn=given.get("isSplitTurn", False),
        tokens_before=given.get("tokensBefore"),
        previous_summary=given.get("previousSummary"),
        file_operations=FileOperations(*lists),
        reserve_tokens=RESERVE_TOKENS,
        branch=args.get("branchEntries") or (),
        model=None if args.get("noModel") else {**MODEL, **(args.get("model") or {})},
        event_instructions=args.get("customInstructions"),
    )


def _safeguard(args: Args, rules: RuleSet) -> Any:
    task = _task(args)
    driver = Driver(
        [*task.messages, *task.turn_prefix],
        args.get("script") or [{"text": "S{n}"}],
        args.get("auth"),
        args.get("provider"),
        args.get("workspaceFiles") or {},
    )
    run = driver.run(
        safeguard.safeguard_compaction(task, _settings(args["runtime"]), rules, NOW_MS)
    )
    outcome = _outcome(run, task)
    return {
        **outcome,
        **driver.record(),
        "cancelReason": run.cancel_reason,
        "providerCalls": driver.provider_calls,
    }


def _outcome(run: safeguard.SafeguardRun, task: safeguard_source.SafeguardTask) -> Args:
    if run.failure is not None:
        return {"error": {"name": run.failure.name, "message": run.failure.message}}
    if run.summary is None:
        return {"result": {"cancel": True}}
    compaction = {
        "summary": compact_text(run.summary),
        "firstKeptEntryId": FIRST_KEPT,
        "tokensBefore": task.tokens_before,
    }
    if run.files is not None:
        compaction["details"] = run.files.details
    return {"result": {"compaction": compaction}}


FUNCTIONS = {
    "pruneHistoryForContextShare": _prune,
    "splitPreservedRecentTurns": _split,
    "containsRealConversation": _real,
    "clampSettings": _clamp,
    "resolveSummaryReserveTokens": lambda a, _: safeguard_settings.summary_reserve_tokens(
        a["requested"], a["model"].get("maxTokens")
    ),
    "prependPreviousSummary": _prepend,
    "safeguard": _safeguard,
}
