"""Golden cases of calls with their results (spec pruning 7.3, 7.6 and 9)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.pruning import pairing, tool_calls
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.pruning.protocol import (
    NOW_MS,
    Adapter,
    by_equality,
    by_position,
    encode,
)


def calls_of(args: dict[str, Any], _rules: RuleSet) -> Any:
    return [
        {"id": call.id} if call.name is None else {"id": call.id, "name": call.name}
        for call in tool_calls.tool_calls(args["message"])
    ]


def result_name(args: dict[str, Any], rules: RuleSet) -> Any:
    message = args["message"]
    named = tool_calls.normal_result_name(
        message, args.get("fallbackName"), rules.pruning.pairing.calls
    )
    return {"same": named is message, "message": encode(named)}


def missing(args: dict[str, Any], rules: RuleSet) -> Any:
    return encode(
        tool_calls.missing_result(
            args["toolCallId"],
            args.get("toolName"),
            args.get("text"),
            NOW_MS,
            rules.pruning.pairing.calls,
        )
    )


def sanitize(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    allowed = tool_calls.allowed_names((args.get("options") or {}).get("allowedToolNames"))
    clean = tool_calls.sanitize_tool_calls(messages, rules.pruning.pairing.calls, allowed)
    return {"same": clean is messages, "messages": by_equality(clean, messages)}


def repair(args: dict[str, Any], rules: RuleSet) -> Any:
    messages, options = args["messages"], args.get("options") or {}
    repaired = pairing.repair_pairing(
        messages,
        rules.pruning.pairing,
        NOW_MS,
        errored_policy=options.get("erroredAssistantResultPolicy") or "preserve",
        missing_text=options.get("missingToolResultText"),
    )
    return {
        "same": repaired.messages is messages,
        "moved": repaired.changed,
        "added": len(repaired.added),
        "droppedDuplicateCount": repaired.dropped_duplicates,
        "droppedOrphanCount": repaired.dropped_orphans,
        "messages": by_equality(repaired.messages, messages),
    }


def strip_details(args: dict[str, Any], _rules: RuleSet) -> Any:
    messages = args["messages"]
    stripped = tool_calls.without_details(messages)
    return {"same": stripped is messages, "messages": by_position(stripped, messages)}


FUNCTIONS: dict[str, Adapter] = {
    "extractToolCallsFromAssistant": calls_of,
    "extractToolResultIds": lambda a, r: tool_calls.result_ids(
        a["message"], r.pruning.pairing.calls
    ),
    "extractToolResultId": lambda a, r: tool_calls.result_id(a["message"], r.pruning.pairing.calls),
    "normalizePersistedToolResultName": result_name,
    "makeMissingToolResult": missing,
    "sanitizeToolCallInputs": sanitize,
    "repairToolUseResultPairing": repair,
    "stripToolResultDetails": strip_details,
}
