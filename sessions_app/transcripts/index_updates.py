"""How an entry of `sessions.json` changes with a compaction and with a run (spec budgets 7.1, 7.2).

An entry is never changed in place: every update returns a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_index import (
    INDEX_2026_5_28,
    Entry,
    IndexRules,
    above_zero,
    compaction_count,
    floored_from_zero,
    is_known_fresh,
)
from sessions_app.transcripts.usage import Number, Usage, has_nonzero_usage, session_total_tokens

USAGE_FIELDS: Final = ("inputTokens", "outputTokens", "cacheRead", "cacheWrite")


@dataclass(frozen=True, slots=True)
class CompactionUpdate:
    """What is known after a compaction; an amount of 0 only updates the sizes.

    Runs that end in an overflow reply, and the paths without a reply pipeline, never report their
    compactions, so their count stays behind what the transcript shows.
    """

    amount: object = None
    tokens_after: object = None
    session_key: str | None = None
    new_session_id: str | None = None
    new_session_file: str | None = None


def increment_compaction_count(
    entry: Entry,
    update: CompactionUpdate,
    now_ms: Number,
    rules: IndexRules = INDEX_2026_5_28,
) -> dict[str, Any]:
    """The entry after a compaction. The flush mark stays, which is what arms the next flush."""
    amount = js.maximum(0, update.amount if js.is_number(update.amount) else 1)
    updated = {
        **entry,
        "compactionCount": compaction_count(entry) + amount,
        "updatedAt": now_ms,
        **_rotation(entry, update, rules),
    }
    tokens_after = rules.tokens_after(update.tokens_after)
    if tokens_after is not None:
        updated |= {"totalTokens": tokens_after, **rules.fresh_fields}
        return _without(updated, USAGE_FIELDS)
    if amount > 0 and rules.compaction_makes_stale:
        updated["totalTokensFresh"] = False
    return updated


def _rotation(entry: Entry, update: CompactionUpdate, rules: IndexRules) -> dict[str, Any]:
    """The fields that follow a successor transcript: a new session id, or only a new file."""
    new_file = js.trim(update.new_session_file or "")
    old_id, new_id = entry.get("sessionId"), update.new_session_id
    if not new_id or new_id == old_id:
        return {"sessionFile": new_file} if new_file and rules.follows_file_alone else {}
    family = [*(entry.get("usageFamilySessionIds") or []), old_id, new_id]
    fields = {
        "sessionId": new_id,
        "sessionFile": new_file or _renamed(entry.get("sessionFile"), old_id, new_id),
        "usageFamilyKey": entry.get("usageFamilyKey") or update.session_key,
        "usageFamilySessionIds": list(dict.fromkeys(member for member in family if member)),
    }
    return {key: value for key, value in fields.items() if value is not None}


def _renamed(file: object, old_id: object, new_id: str) -> str | None:
    """The successor's file beside the old one, when the old one was named after its session."""
    if isinstance(file, str) and file.endswith(f"{old_id}.jsonl"):
        return file.removesuffix(f"{old_id}.jsonl") + f"{new_id}.jsonl"
    return None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run reports for the index.

    ``usage`` is summed over the run's calls, ``last_call`` is the last one alone. Only the latter, an
    explicit ``prompt_tokens``, or a ``usage`` that is a snapshot by itself, say how large the context
    is.
    """

    usage: Usage | None = None
    last_call: Usage | None = None
    prompt_tokens: object = None
    usage_is_snapshot: bool = False
    compaction_tokens_after: object = None
    model: str | None = None
    provider: str | None = None
    context_tokens: Number | None = None
    is_heartbeat: bool = False
    preserve_model_state: bool = False
    preserve_fresh_total: bool = False


def persist_usage(
    entry: Entry, report: RunReport, now_ms: Number, rules: IndexRules = INDEX_2026_5_28
) -> dict[str, Any]:
    """The entry after a run; the same content when the run reports nothing."""
    has_snapshot = (
        report.last_call is not None
        or above_zero(report.prompt_tokens) is not None
        or report.usage_is_snapshot
    )
    after = (
        floored_from_zero(report.compaction_tokens_after) if rules.uses_compaction_size else None
    )
    has_usage = has_nonzero_usage(report.usage)
    if not (has_usage or has_snapshot or after is not None):
        known = report.model or report.context_tokens
        return {**entry, **_model_fields(entry, report, now_ms, rules)} if known else dict(entry)
    if report.preserve_model_state and rules.preserves_model:
        return {**entry, "updatedAt": now_ms}
    updated = {**entry, **_model_fields(entry, report, now_ms, rules)}
    if has_usage:
        updated |= _usage_fields(report)
    total = _snapshot_total(report) if has_snapshot else None
    if total is None and after is not None:
        total, updated = after, _without(updated, USAGE_FIELDS)
    return _with_total(updated, total, has_snapshot or after is not None, report, rules)


def _with_total(
    entry: dict[str, Any],
    total: Number | None,
    is_current: bool,
    report: RunReport,
    rules: IndexRules,
) -> dict[str, Any]:
    if not rules.keeps_stale_total:
        entry["totalTokensFresh"] = total is not None
    elif is_current:
        entry |= rules.fresh_fields
    else:
        entry["totalTokensFresh"] = report.preserve_fresh_total and is_known_fresh(entry)
        return entry
    return (
        entry | {"totalTokens": total} if total is not None else _without(entry, ("totalTokens",))
    )


def _snapshot_total(report: RunReport) -> Number | None:
    usage = report.last_call or (report.usage if report.usage_is_snapshot else None)
    return session_total_tokens(usage, report.prompt_tokens)


def _usage_fields(report: RunReport) -> dict[str, Number]:
    usage = report.usage or Usage()
    cache = report.last_call or usage
    return {
        "inputTokens": usage.input or 0,
        "outputTokens": usage.output or 0,
        "cacheRead": cache.cache_read or 0,
        "cacheWrite": cache.cache_write or 0,
    }


def _model_fields(
    entry: Entry, report: RunReport, now_ms: Number, rules: IndexRules
) -> dict[str, Any]:
    if report.preserve_model_state and rules.preserves_model:
        return {"updatedAt": now_ms}
    keeps = report.is_heartbeat and rules.preserves_model
    fields = {
        "modelProvider": None if keeps else report.provider,
        "model": None if keeps else report.model,
        "contextTokens": report.context_tokens,
    }
    return {key: value for key, value in fields.items() if value is not None} | {
        "updatedAt": now_ms
    }


def _without(entry: Entry, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in keys}
