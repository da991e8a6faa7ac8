"""Which entries a compaction takes, and the compaction without safeguard (spec compaction 2)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.budget import CompactionSettings, runtime_settings
from compaction_app.engine.compaction import compact, cut, prepare, prompt
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.transcripts.session_context import context_of_path
from tests.conformance.compaction.driver import CoreDriver
from tests.conformance.compaction.protocol import SHORT_TEXT, compact_text

Args = dict[str, Any]


def _cut_point(args: Args, rules: RuleSet) -> Any:
    entries = args["entries"]
    found = cut.find_cut_point(
        entries,
        args.get("startIndex", 0),
        args.get("endIndex", len(entries)),
        args["keepRecentTokens"],
        lambda i: prepare.entry_tokens(entries[i], rules.message_tokens),
        rules.compaction.cut,
    )
    return {
        "firstKeptEntryIndex": found.first_kept_index,
        "turnStartIndex": found.turn_start_index,
        "isSplitTurn": found.is_split_turn,
    }


def _settings(args: Args) -> CompactionSettings:
    return runtime_settings({"compaction": args["settings"]})


def _prepare(args: Args, rules: RuleSet) -> Any:
    entries = args["entries"]
    prepared = prepare.prepare_compaction(entries, _settings(args).keep_recent_tokens, rules)
    if prepared.error is not None:
        code = prepared.cut.decision.reason
        return {"ok": False, "error": {"code": code, "message": prepared.error}}
    found = prepared.preparation
    if found is None:
        return {"ok": True, "value": None}
    ops = found.file_operations
    return {
        "ok": True,
        "value": {
            "firstKeptEntryId": found.first_kept_entry_id,
            "messagesToSummarize": _contributing(entries, found.cut.history),
            "turnPrefixMessages": _contributing(entries, found.cut.turn_prefix),
            "isSplitTurn": found.is_split_turn,
            "tokensBefore": found.tokens_before,
            "previousSummary": found.previous_summary,
            "fileOps": {
                "read": list(ops.read),
                "written": list(ops.written),
                "edited": list(ops.edited),
            },
        },
    }


def _contributing(entries: list[Any], taken: range) -> list[Any]:
    """The ids of the entries that became messages."""
    kept = (entries[i] for i in taken if entries[i]["type"] != "compaction")
    return [entry["id"] for entry in kept if context_of_path([entry]).messages]


def _compact(args: Args, rules: RuleSet) -> Any:
    settings = _settings(args)
    found = prepare.prepare_compaction(
        args["entries"], settings.keep_recent_tokens, rules
    ).preparation
    assert found is not None
    driver = CoreDriver(args["script"], args.get("model") or {})
    run = driver.run(
        compact.default_compaction(
            found,
            settings.reserve_tokens,
            args.get("customInstructions"),
            rules.compaction,
        )
    )
    if run.error is not None:
        error = {"code": run.error, "message": run.message}
        return {"ok": False, "error": error, "calls": driver.calls}
    return {
        "ok": True,
        "summary": compact_text(run.summary),
        "firstKeptEntryId": found.first_kept_entry_id,
        "details": run.files.details,
        "calls": driver.calls,
    }


def _context(args: Args, _: RuleSet) -> Any:
    found = context_of_path(args["entries"])
    model = None
    if found.model is not None:
        parts = {"provider": found.model.provider, "modelId": found.model.model_id}
        model = {key: part for key, part in parts.items() if part is not None}
    return {
        "messages": [_shown(message) for message in found.messages],
        "thinkingLevel": found.thinking_level,
        "model": model,
    }


def _shown(message: Any) -> Any:
    content = message["summary"] if "summary" in message else message.get("content")
    if not isinstance(content, str):
        content = "|".join(
            block["text"] if block["type"] == "text" else f"<{block['type']}:{block.get('name')}>"
            for block in content
        )
    return {"role": message["role"], "text": compact_text(content, SHORT_TEXT)}


FUNCTIONS = {
    "findCutPoint": _cut_point,
    "findValidCutPoints": lambda a, _: list(
        cut.valid_cut_points(a["entries"], a["startIndex"], a["endIndex"])
    ),
    "findTurnStartIndex": lambda a, r: cut.find_turn_start(
        a["entries"], a["entryIndex"], a["startIndex"], r.compaction.cut
    ),
    "prepareCompaction": _prepare,
    "coreCompact": _compact,
    "serializeConversation": lambda a, _: prompt.serialise_conversation(a["messages"]),
    "buildSessionContext": _context,
}
