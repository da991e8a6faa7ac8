"""Usage, the session index and transcripts (spec budgets 7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from sessions_app.transcripts import index_updates, session_index
from sessions_app.transcripts import usage as usages
from sessions_app.transcripts.index_updates import CompactionUpdate, RunReport
from sessions_app.transcripts.json_lines import parse_json_lines
from sessions_app.transcripts.loading import (
    IdSource,
    LoadedTranscript,
    latest_compaction,
    load_loose,
    load_strict,
)
from sessions_app.transcripts.session_context import llm_messages, session_context
from sessions_app.transcripts.usage import Usage
from tests.conformance.budgets.protocol import present

Args = dict[str, Any]


def encode_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return present(
        input=usage.input,
        output=usage.output,
        cacheRead=usage.cache_read,
        cacheWrite=usage.cache_write,
        reasoningTokens=usage.reasoning,
        total=usage.total,
    )


def normalize(args: Args, rules: RuleSet) -> Any:
    usage = usages.normalize_usage(args["raw"], rules.usage)
    return {
        "usage": encode_usage(usage),
        "prompt": usages.prompt_tokens(usage),
        "nonzero": usages.has_nonzero_usage(usage),
    }


def derive(args: Args, rules: RuleSet) -> Any:
    usage = usages.read_usage(args.get("usage"), rules.usage)
    last_call = usages.read_usage(args.get("lastCallUsage"), rules.usage)
    known = args.get("promptTokens")
    return {
        "prompt": usages.prompt_tokens(usage),
        "context": usages.context_prompt_tokens(usage, last_call, known),
        "session": usages.session_total_tokens(usage, known),
        "nonzero": usages.has_nonzero_usage(usage),
    }


def accumulate(args: Args, rules: RuleSet) -> Any:
    calls = [usages.read_usage(call, rules.usage) for call in args["calls"]]
    summed = usages.accumulate_usage(calls)
    return {"total": encode_usage(summed.total), "last": encode_usage(summed.last)}


def numbered_ids() -> IdSource:
    numbers = count()
    return lambda: f"#{next(numbers)}"


def loaded(load: Callable[..., LoadedTranscript], args: Args) -> LoadedTranscript:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in args["lines"]]
    transcript = load(parse_json_lines("\n".join(lines)), numbered_ids())
    return transcript.at(args["branchFrom"]) if "branchFrom" in args else transcript


def encode_transcript(transcript: LoadedTranscript) -> dict[str, Any]:
    context = session_context(transcript)
    leaf = transcript.leaf_id
    return {
        "leaf": "#generated" if str(leaf).startswith("#") else leaf,
        "entries": [encode_entry(entry) for entry in transcript.entries],
        "branch": [entry.get("id") for entry in transcript.branch()],
        "thinkingLevel": context.thinking_level,
        "model": context.model
        and present(provider=context.model.provider, modelId=context.model.model_id),
        "messages": context.messages,
        "llm": llm_messages(context.messages),
    }


def encode_entry(entry: Any) -> dict[str, Any]:
    keys = ("type", "id", "parentId") if isinstance(entry, dict) else ()
    return {key: entry[key] for key in keys if key in entry}


def build(args: Args, rules: RuleSet) -> Any:
    return encode_transcript(loaded(load_loose, args))


def build_strict(args: Args, rules: RuleSet) -> Any:
    transcript = loaded(load_strict, args)
    header = transcript.header
    return {
        **encode_transcript(transcript),
        "migrated": transcript.migrated,
        "header": header and {key: header[key] for key in ("version",) if key in header},
    }


def parse(args: Args, rules: RuleSet) -> Any:
    entries = parse_json_lines(args["content"])
    compaction = latest_compaction(entries)
    return {"entries": entries, "latestCompaction": compaction and compaction.get("id")}


def totals(args: Args, rules: RuleSet) -> Any:
    entry = args["entry"]
    return {
        "total": session_index.total_tokens(entry),
        "fresh": session_index.fresh_total_tokens(entry, rules.session_index),
    }


def increment_compaction(args: Args, rules: RuleSet) -> Any:
    params = args["params"]
    update = CompactionUpdate(
        amount=params.get("amount"),
        tokens_after=params.get("tokensAfter"),
        session_key="k",
        new_session_id=params.get("newSessionId"),
        new_session_file=params.get("newSessionFile"),
    )
    entry = index_updates.increment_compaction_count(
        args["entry"], update, NOW_MS, rules.session_index
    )
    # A field set to "missing" is still a key of the runtime's object.
    cleared = rules.session_index.tokens_after(update.tokens_after) is not None
    keys = {*args["entry"], *entry, *(index_updates.USAGE_FIELDS if cleared else ())}
    return {"count": entry["compactionCount"], "entry": entry, "keys": sorted(keys)}


def persist_usage(args: Args, rules: RuleSet) -> Any:
    params = args["params"]
    report = RunReport(
        usage=usages.read_usage(params.get("usage"), rules.usage),
        last_call=usages.read_usage(params.get("lastCallUsage"), rules.usage),
        prompt_tokens=params.get("promptTokens"),
        usage_is_snapshot=params.get("usageIsContextSnapshot") is True,
        compaction_tokens_after=params.get("compactionTokensAfter"),
        model=params.get("modelUsed"),
        provider=params.get("providerUsed"),
        context_tokens=params.get("contextTokensUsed"),
        is_heartbeat=params.get("isHeartbeat") is True,
        preserve_model_state=params.get("preserveUserFacingSessionModelState") is True,
        preserve_fresh_total=params.get("preserveFreshTotalTokensOnStaleUsage") is True,
    )
    entry = index_updates.persist_usage(args["entry"], report, NOW_MS, rules.session_index)
    return {key: entry[key] for key in PERSISTED if key in entry}


NOW_MS = 7
PERSISTED = (
    "modelProvider", "model", "contextTokens", "inputTokens", "outputTokens", "cacheRead",
    "cacheWrite", "totalTokens", "totalTokensFresh",
)  # fmt: skip

FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "store.incrementCompaction": increment_compaction,
    "store.persistUsage": persist_usage,
    "store.totals": totals,
    "transcript.build": build,
    "transcript.buildStrict": build_strict,
    "transcript.parse": parse,
    "usage.normalize": normalize,
    "usage.derive": derive,
    "usage.accumulate": accumulate,
}
