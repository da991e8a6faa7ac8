"""Memory flush and preflight compaction (spec budgets 5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from compaction_app.engine import (
    flush_plan,
    flush_run,
    preflight,
    preflight_failures,
    zoned_time,
)
from compaction_app.engine.config_value import value_at
from compaction_app.engine.flush import flush_line, token_gate
from compaction_app.engine.flush_run import FlushSituation
from compaction_app.engine.last_usage import (
    LastUsage,
    TranscriptEstimate,
    read_last_usage,
    stored_messages,
)
from compaction_app.engine.preflight import PreflightRules, PreflightSituation
from compaction_app.engine.rule_sets import OPENCLAW_2026_4_20, OPENCLAW_2026_5_28, RuleSet
from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.window import WindowRequest
from sessions_app.transcripts.index_updates import CompactionUpdate, increment_compaction_count
from sessions_app.transcripts.session_index import compaction_count, record_flush
from tests.conformance.budgets.files import encode_usage
from tests.conformance.budgets.protocol import present

Args = dict[str, Any]

NOW_MS = 1764547200000
TOKEN_FIELDS = (
    "totalTokens", "totalTokensFresh", "compactionCount", "memoryFlushAt",
    "memoryFlushCompactionCount",
)  # fmt: skip


def gate(args: Args, rules: RuleSet) -> Any:
    raises = rules.preflight is not None and rules.preflight.raises_to_server_threshold
    line = flush_line(
        args["contextWindowTokens"],
        args["reserveTokensFloor"],
        args["softThresholdTokens"],
        args.get("minimumThresholdTokens") if raises else None,
    )
    found = token_gate(args.get("entry"), line, rules.id, args.get("tokenCount"))
    judged = found.preflight.reason in ("preflight_due", "below_threshold")
    return {
        "state": {"totalTokens": found.total, "threshold": line.tokens} if judged else None,
        "flush": found.flush.fired,
        "preflight": found.preflight.fired,
        "alreadyFlushed": found.already_flushed,
    }


def plan(args: Args, rules: RuleSet) -> Any:
    found = flush_plan.flush_plan(
        args["cfg"], args["nowMs"], rules.flush_plan, args.get("contextWindowTokens")
    )
    if found is None:
        return None
    return present(
        **encode_settings(found.settings),
        model=found.model,
        prompt=found.prompt,
        systemPrompt=found.system_prompt,
        relativePath=found.relative_path,
    )


def encode_settings(settings: flush_plan.FlushSettings) -> dict[str, Any]:
    return {
        "softThresholdTokens": settings.soft_threshold,
        "reserveTokensFloor": settings.reserve_floor,
        "forceFlushTranscriptBytes": settings.force_bytes,
    }


def settings(args: Args, rules: RuleSet) -> Any:
    found = flush_plan.flush_settings(args["cfg"], rules.flush_plan)
    return found and encode_settings(found)


def file_of(args: Args, key: str = "lines") -> bytes | None:
    lines = args.get(key)
    if lines is None:
        return None
    texts = [
        line
        if isinstance(line, str)
        else json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        for line in lines
    ]
    end = "" if args.get("noFinalNewline") or not texts else "\n"
    return ("\n".join(texts) + end).encode("utf-8", "replace")


def last_usage_of(content: bytes, rules: RuleSet) -> LastUsage:
    return read_last_usage(len(content), lambda at, size: content[at : at + size], rules.usage)


def last_usage(args: Args, rules: RuleSet) -> Any:
    found = last_usage_of(file_of(args) or b"", rules)
    trailing = rules is OPENCLAW_2026_5_28
    usage = encode_usage(found.usage)
    scan = present(usage=usage, trailingBytes=found.trailing_bytes, byteSize=found.byte_size)
    snapshot = present(
        promptTokens=found.prompt_tokens,
        outputTokens=found.output_tokens,
        trailingBytesTokens=found.trailing_tokens if trailing else None,
    )
    return present(scan=scan if trailing else usage, snapshot=snapshot if found.is_known else None)


def estimate_of(content: bytes | None, rules: RuleSet) -> TranscriptEstimate | None:
    if content is None or rules.preflight is None:
        return None
    messages = stored_messages(content, recent_only=rules.preflight.reads_end_only)
    return rules.preflight.estimate(last_usage_of(content, rules), messages, rules.message_tokens)


def transcript_estimate(args: Args, rules: RuleSet) -> Any:
    found = estimate_of(file_of(args), rules)
    if found is None or rules is OPENCLAW_2026_4_20:
        return found and found.prompt_tokens
    return present(
        promptTokens=found.prompt_tokens,
        outputTokens=found.output_tokens,
        transcriptByteSize=found.byte_size,
        transcriptBytesTokens=found.byte_tokens,
    )


def window_of(args: Args, rules: RuleSet) -> Any:
    config = args.get("cfg")
    request = WindowRequest(config, args.get("model", "m"), args.get("provider", "acme"))
    override = value_at(config, "agents", "defaults", "contextTokens")
    return rules.purpose_window.flush(rules.window_chain, {}, request, override).tokens


def token_fields(entry: Any) -> dict[str, Any]:
    return {key: entry[key] for key in TOKEN_FIELDS if key in entry}


def run(args: Args, rules: RuleSet) -> Any:
    config, now = args.get("cfg"), args.get("nowMs", NOW_MS)
    provider, model = args.get("provider", "acme"), args.get("model", "m")
    content = file_of(args, "transcript")
    plan = None if args.get("noPlan") else flush_plan.flush_plan(config, now, rules.flush_plan)
    situation = FlushSituation(
        plan=plan,
        entry=args["entry"],
        window=window_of(args, rules),
        prompt_estimate=flush_run.prompt_estimate(args.get("prompt"), rules.message_tokens),
        is_heartbeat=args.get("isHeartbeat") is True,
        is_cli_provider=is_cli_provider(config, provider),
        can_write_workspace=can_write_workspace(config),
    )
    needs = flush_run.transcript_needs(situation)
    usage = last_usage_of(content, rules) if needs.usage and content is not None else None
    size = len(content) if needs.size and content is not None else None
    found = flush_run.decide_flush(situation, usage, size, rules.id)
    entry, ran = found.entry or {}, found.decision.fired
    if not ran or plan is None:
        fields = token_fields(entry)
        return {"ran": False, "phases": [], "returned": fields, "stored": fields, "files": []}
    chosen = flush_run.flush_model(provider, model, plan.model)
    fields = token_fields(record_flush(entry, now, compaction_count(entry)))
    file = plan.relative_path.rpartition("/")[2]
    return {
        "ran": True,
        "provider": chosen.provider,
        "model": chosen.model,
        "fallbacksOverride": None if chosen.allows_fallbacks else [],
        "phases": ["memory_flushing"],
        "returned": fields,
        "stored": fields,
        "files": [file] if rules.flush_run.creates_target_file else [],
    }


def preflight_run(args: Args, rules: RuleSet) -> Any:
    family = rules.preflight
    assert family is not None
    config, entry = args.get("cfg"), args["entry"]
    provider, model = args.get("provider", "acme"), args.get("model", "m")
    content = file_of(args, "transcript")
    situation = PreflightSituation(
        entry=entry,
        window=window_of(args, rules),
        reserve_floor=rules.flush_plan.reserve(config, None),
        soft_threshold=rules.flush_plan.soft(config, None),
        prompt_estimate=flush_run.prompt_estimate(args.get("prompt"), rules.message_tokens),
        server_threshold=server_threshold(config, provider, model),
        max_active_bytes=preflight.max_active_bytes(config, family),
        is_heartbeat=args.get("isHeartbeat") is True,
        is_cli_provider=is_cli_provider(config, provider),
    )
    needs = preflight.transcript_needs(family, situation)
    estimate = estimate_of(content, rules) if needs.estimate else None
    size = len(content) if needs.size and content is not None else None
    found = preflight.decide_preflight(family, situation, estimate, size, rules.id)
    if not found.decision.fired:
        fields = token_fields(entry)
        return {"ran": False, "phases": [], "returned": fields, "stored": fields, "files": []}
    result = args.get("compactResult", {"ok": True, "compacted": True, "tokensAfter": 1234})
    outcome = PREFLIGHT_OUTCOMES[rules.id](family, situation, result, rules)
    return {
        "ran": True,
        "trigger": "budget",
        "currentTokenCount": found.current_tokens,
        "phases": ["preflight_compacting"],
        "files": [],
        **outcome,
    }


def reported_outcome(
    family: PreflightRules, situation: PreflightSituation, result: Any, rules: RuleSet
) -> dict[str, Any]:
    """The stand-in for the compaction only notes what it is told to count."""
    counted = {"tokensAfter": result["tokensAfter"]} if result.get("tokensAfter") else {}
    fields = token_fields(situation.entry)
    error = preflight_failures.failure_of(
        family, ok=result["ok"], compacted=result["compacted"], reason=result.get("reason")
    )
    return present(
        contextTokenBudget=situation.window,
        counted=counted if result["compacted"] else None,
        error=error,
        returned=None if error else fields,
        stored=fields,
    )


def counted_outcome(
    family: PreflightRules, situation: PreflightSituation, result: Any, rules: RuleSet
) -> dict[str, Any]:
    """The compaction is counted in the session's entry."""
    entry = situation.entry or {}
    if result["ok"] and result["compacted"]:
        update = CompactionUpdate(tokens_after=result.get("tokensAfter"))
        entry = increment_compaction_count(entry, update, NOW_MS, rules.session_index)
    return {"returned": token_fields(entry), "stored": token_fields(entry)}


PREFLIGHT_OUTCOMES = {
    OPENCLAW_2026_4_20.id: counted_outcome,
    OPENCLAW_2026_5_28.id: reported_outcome,
}


def model_options(args: Args, rules: RuleSet) -> Any:
    chosen = flush_run.flush_model(args["provider"], args["model"], args.get("override"))
    return present(
        provider=chosen.provider,
        model=chosen.model,
        fallbacksOverride=None if chosen.allows_fallbacks else [],
    )


def skip_reason(args: Args, rules: RuleSet) -> Any:
    reason = args.get("reason")
    return {
        "skip": preflight_failures.is_harmless(reason),
        "class": preflight_failures.reason_class(reason),
    }


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "flush.dateStamp": lambda a, r: zoned_time.date_stamp(a["nowMs"], a["timezone"]),
    "flush.effectiveTokens": lambda a, r: flush_run.effective_tokens(
        a.get("base"), a.get("output"), a.get("estimate")
    ),
    "flush.errorPayload": lambda a, r: {
        "text": flush_run.error_text(a["message"]),
        "isError": True,
    },
    "flush.gate": gate,
    "flush.lastUsage": last_usage,
    "flush.maxActiveBytes": lambda a, r: preflight.max_active_bytes(
        a["cfg"], r.preflight or preflight.OPENCLAW_2026_5_28
    ),
    "flush.modelOptions": model_options,
    "flush.plan": plan,
    "flush.promptEstimate": lambda a, r: flush_run.prompt_estimate(
        a.get("prompt"), r.message_tokens
    ),
    "flush.run": run,
    "flush.serverThreshold": lambda a, r: server_threshold(
        a["cfg"], a.get("provider"), a.get("modelId")
    ),
    "flush.transcriptEstimate": transcript_estimate,
    "preflight.run": preflight_run,
    "preflight.skipReason": skip_reason,
}
