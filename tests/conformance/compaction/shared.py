"""Rules that other sections describe as well, in this section's encodings (spec compaction appendix B)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine import silent_reply
from compaction_app.engine.budget import runtime_settings
from compaction_app.engine.compaction import boundary, duplicate_asks
from compaction_app.engine.config.materialize import with_compaction_mode
from compaction_app.engine.inner_trigger import exceeds_threshold
from compaction_app.engine.preflight_failures import reason_class
from compaction_app.engine.pruning.pairing import repair_pairing
from compaction_app.engine.pruning.tool_calls import sanitize_tool_calls, without_details
from compaction_app.engine.recovery_limits import max_iterations
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.subagent.announce import is_control, may_become_control
from tests.conformance.budgets import flush, routing, settings
from tests.conformance.compaction.protocol import positions

Args = dict[str, Any]
NOW_MS = 0


def _repair(args: Args, rules: RuleSet) -> Any:
    messages, options = args["messages"], args.get("options") or {}
    found = repair_pairing(
        messages,
        rules.compaction.pairing,
        NOW_MS,
        errored_policy=options.get("erroredAssistantResultPolicy") or "preserve",
        missing_text=options.get("missingToolResultText"),
    )
    return {
        "messages": positions(found.messages, messages),
        "added": len(found.added),
        "droppedDuplicateCount": found.dropped_duplicates,
        "droppedOrphanCount": found.dropped_orphans,
        "moved": found.changed,
        "sameArray": found.messages is messages,
    }


def _strip(args: Args, _: RuleSet) -> Any:
    stripped = without_details(args["messages"])
    return {"messages": list(stripped), "sameArray": stripped is args["messages"]}


def _inputs(args: Args, rules: RuleSet) -> Any:
    given = args["messages"]
    clean = sanitize_tool_calls(given, rules.compaction.pairing.calls)
    blocks = [sum(len(m.get("content") or ()) for m in messages) for messages in (given, clean)]
    return {
        "messages": list(clean),
        "droppedToolCalls": blocks[0] - blocks[1],
        "droppedAssistantMessages": len(given) - len(clean),
    }


def _silent(args: Args, rules: RuleSet) -> Any:
    text, silent = args["text"], rules.silent_reply
    return {
        "exact": silent_reply.is_silent_text(text, silent),
        "payload": silent_reply.is_silent(text, silent),
        "stripped": silent_reply.strip_trailing_token(text, rules=silent),
        "leadingGlued": silent_reply.starts_with_glued_token(text),
        "strippedLeading": silent_reply.strip_leading_tokens(text),
        "control": is_control(text, silent),
        "leadFragment": may_become_control(text, silent),
    }


def _gates(args: Args, rules: RuleSet) -> Any:
    found = flush.gate(args, rules)
    return {"compact": found["preflight"], "flush": found["flush"]}


def _applied(args: Args, rules: RuleSet) -> Any:
    found = settings.applied(args, rules)
    return {
        "didOverride": found["didOverride"],
        "compaction": found["compaction"],
        "applied": found["overrides"],
    }


def _dedupe(args: Args, rules: RuleSet) -> Any:
    repeated = duplicate_asks.duplicate_asks(args["messages"], rules.compaction.duplicates)
    return [i for i in range(len(args["messages"])) if i not in repeated]


def _successor(args: Args, _: RuleSet) -> Any:
    kept = boundary.successor_entries(args["branch"], args.get("allEntries") or args["branch"])
    return [[entry["id"], entry["parentId"]] for entry in kept]


def _hardens(args: Args, rules: RuleSet) -> Any:
    return boundary.hardens_boundary(
        args["branch"],
        args["compactionId"],
        manual=True,
        configured_keep=None,
        rule_set=rules.id,
    ).fired


def _exceeds(args: Args, _: RuleSet) -> bool:
    settings = runtime_settings({"compaction": args["settings"]})
    return exceeds_threshold(args["contextTokens"], args["contextWindow"], settings)


FUNCTIONS = {
    "shouldCompact": _exceeds,
    "repairToolUseResultPairing": _repair,
    "stripToolResultDetails": _strip,
    "repairToolCallInputs": _inputs,
    "silentReply": _silent,
    "preflightGates": _gates,
    "applyCompactionSettings": _applied,
    "applyCompactionDefaults": lambda a, _: with_compaction_mode(a["cfg"]),
    "effectiveCompactionMode": settings.FUNCTIONS["settings.mode"],
    "autoCompactionDisabled": settings.FUNCTIONS["settings.autoGuard"],
    "silentOverflowProne": settings.FUNCTIONS["settings.silentOverflowProne"],
    "shouldPreemptivelyCompactBeforePrompt": routing.decide,
    "serverCompactionThreshold": lambda a, _: server_threshold(
        a.get("cfg"), a.get("provider"), a.get("modelId")
    ),
    "maxRunRetryIterations": lambda a, r: max_iterations(
        r.run_recovery, a.get("cfg"), a["profiles"], a.get("agentId")
    ),
    "classifyCompactionReason": lambda a, _: reason_class(a.get("reason")),
    "dedupeDuplicateUserMessages": _dedupe,
    "successorEntries": _successor,
    "manualBoundary": _hardens,
}
