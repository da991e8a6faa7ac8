"""The quality check and the sections around a summary (spec compaction 3.2 to 3.4)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.compaction import (
    ask_overlap,
    file_operations,
    identifiers,
    message_text,
    quality,
    stop_words,
    summary_cap,
    tool_failures,
    turns_section,
)
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.compaction.protocol import compact_text

Args = dict[str, Any]
SUFFIX_ORDER = (
    "splitTurnSection",
    "preservedTurnsSection",
    "toolFailureSection",
    "fileOpsSummary",
    "workspaceContext",
)


def _audit(args: Args, _: RuleSet) -> Any:
    found = quality.check_quality(
        args["summary"], args["identifiers"], args.get("latestAsk"), args.get("identifierPolicy")
    )
    return {"ok": found.ok, "reasons": list(found.reasons)}


def _failures(args: Args, _: RuleSet) -> Any:
    found = tool_failures.tool_failures(args["messages"])
    return {
        "failures": [
            {
                "toolCallId": failure.tool_call_id,
                "toolName": failure.tool_name,
                "summary": failure.summary,
                "meta": failure.meta,
            }
            for failure in found
        ],
        "section": tool_failures.tool_failures_section(found),
    }


def _files(args: Args, rules: RuleSet) -> Any:
    section = rules.compaction.safeguard.file_section
    if "fileOps" not in args:
        lists = file_operations.FileLists(tuple(args["readFiles"]), tuple(args["modifiedFiles"]))
        return {"section": section(lists)}
    ops = args["fileOps"]
    lists = file_operations.file_lists(
        file_operations.FileOperations(
            tuple(ops.get("read", ())), tuple(ops.get("written", ())), tuple(ops.get("edited", ()))
        )
    )
    return {**lists.details, "section": section(lists)}


def _cap(args: Args, rules: RuleSet) -> Any:
    limit = args.get("maxChars", summary_cap.MAX_SUMMARY_CHARS)
    return compact_text(summary_cap.cap_summary(args["summary"], limit, rules.compaction.cap))


def _cap_suffix(args: Args, rules: RuleSet) -> Any:
    limit = args.get("maxChars", summary_cap.MAX_SUMMARY_CHARS)
    return compact_text(
        summary_cap.cap_keeping_suffix(args["summary"], args["suffix"], limit, rules.compaction.cap)
    )


def _suffix(args: Args, rules: RuleSet) -> Any:
    text = summary_cap.assemble_suffix(args.get(key, "") for key in SUFFIX_ORDER)
    if rules.compaction.cap.marks_always:
        # The later runtime also tells which parts a second cut may touch: none in these cases.
        return {"text": text, "contextRanges": []}
    return text


FUNCTIONS = {
    "extractOpaqueIdentifiers": lambda a, r: identifiers.opaque_identifiers(
        a["text"], r.compaction.identifiers
    ),
    "tokenizeAskOverlapText": lambda a, _: ask_overlap.overlap_tokens(a["text"]),
    "hasAskOverlap": lambda a, _: ask_overlap.ask_overlap(a["summary"], a["latestAsk"]).reflected,
    "isQueryStopWordToken": lambda a, _: [stop_words.is_stop_word(t) for t in a["tokens"]],
    "auditSummaryQuality": _audit,
    "hasRequiredSummarySections": lambda a, _: quality.has_required_sections(a["summary"]),
    "buildStructuredFallbackSummary": lambda a, _: quality.structured_fallback(
        a.get("previousSummary")
    ),
    "extractLatestUserAsk": lambda a, _: message_text.latest_user_ask(a["messages"]),
    "toolFailures": _failures,
    "fileOperations": _files,
    "formatPreservedTurnsSection": lambda a, _: turns_section.preserved_turns_section(
        a["messages"]
    ),
    "formatSplitTurnContextSection": lambda a, _: turns_section.split_turn_section(a["messages"]),
    "appendSummarySection": lambda a, _: summary_cap.append_section(a["summary"], a["section"]),
    "assembleSuffix": _suffix,
    "capCompactionSummary": _cap,
    "capCompactionSummaryPreservingSuffix": _cap_suffix,
}
