"""The counters of one entry of `sessions.json`, and how they change (spec budgets 7.1, 7.2).

An entry is a plain object with many fields that are none of our business; it is never changed in
place: every update returns a new one. `totalTokens` is the prompt-side size of the context after the
last run. `totalTokensFresh` says whether that still holds; entries of older versions have no such
flag, and count as fresh here, while the memory flush asks for more (`is_known_fresh`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.usage import Number, Usage, has_nonzero_usage, session_total_tokens

Entry = Mapping[str, Any]

USAGE_FIELDS: Final = ("inputTokens", "outputTokens", "cacheRead", "cacheWrite")


def total_tokens(entry: Entry | None) -> Number | None:
    """The stored context size, fresh or not."""
    total = entry.get("totalTokens") if entry else None
    return total if js.is_finite(total) and total >= 0 else None


def fresh_total_tokens(entry: Entry | None, rules: IndexRules | None = None) -> Number | None:
    """The stored context size unless it counts as stale."""
    is_stale = entry is not None and (rules or INDEX_2026_5_28).is_stale(entry)
    return None if is_stale else total_tokens(entry)


def is_known_fresh(entry: Entry | None) -> bool:
    """Whether the entry says in so many words that its total still holds."""
    return entry is not None and entry.get("totalTokensFresh") is True


def compaction_count(entry: Entry | None) -> Number:
    """Completed compactions; 0 when the entry has no count."""
    count = entry.get("compactionCount") if entry else None
    return count if js.is_number(count) else 0


def was_flushed_in_cycle(entry: Entry, rules: IndexRules | None = None) -> bool:
    """Whether the last memory flush belongs to the compaction cycle that is still going on."""
    mark = (rules or INDEX_2026_5_28).flush_mark(entry)
    return mark is not None and mark == compaction_count(entry)


def record_flush(
    entry: Entry, now_ms: Number, compactions_before: Number, rules: IndexRules | None = None
) -> dict[str, Any]:
    """The entry after a successful memory flush, which began at that compaction count."""
    return {**entry, **(rules or INDEX_2026_5_28).flush_fields(now_ms, compactions_before)}


def _marked_stale(entry: Entry) -> bool:
    return entry.get("totalTokensFresh") is False


def _not_marked_fresh(entry: Entry) -> bool:
    """Since 2026.9 a total has to say that it is fresh and by which way of counting."""
    version = entry.get("totalTokensVersion")
    return entry.get("totalTokensFresh") is not True or isinstance(version, bool) or version != 1


def _flat_mark(entry: Entry) -> Number | None:
    mark = entry.get("memoryFlushCompactionCount")
    return mark if js.is_number(mark) else None


def _nested_mark(entry: Entry) -> Number | None:
    flush = entry.get("memoryFlush")
    mark = flush.get("compactionCount") if isinstance(flush, Mapping) else None
    return mark if js.is_number(mark) else None


def _flat_flush(now_ms: Number, count: Number) -> dict[str, Any]:
    return {"memoryFlushAt": now_ms, "memoryFlushCompactionCount": count}


def _nested_flush(_now_ms: Number, count: Number) -> dict[str, Any]:
    return {"memoryFlush": {"kind": "succeeded", "compactionCount": count}}


def _floored_from_zero(value: object) -> Number | None:
    return math.floor(value) if js.is_finite(value) and value >= 0 else None


def _above_zero(value: object) -> Number | None:
    return value if js.is_finite(value) and value > 0 else None


@dataclass(frozen=True, slots=True)
class IndexRules:
    """What a version does differently when it updates an entry.

    ``tokens_after`` reads the size a compaction reports; ``compaction_makes_stale`` says whether one
    that reports none marks the total stale; ``keeps_stale_total`` whether a run without a context
    snapshot leaves the old total in place; ``uses_compaction_size`` whether the size a compaction left
    stands in for a missing snapshot; ``preserves_model`` whether heartbeats and runs beside the user's
    model leave the session's model alone; ``follows_file_alone`` whether a new file counts without a new
    session id; ``is_stale`` whether an entry's total does not count; ``flush_mark`` and ``flush_fields``
    read and write the mark of a memory flush; ``total_version`` is the way of
    counting that stands beside a fresh total; ``first_total`` what a new session's entry says of it.
    """

    tokens_after: Callable[[object], Number | None]
    compaction_makes_stale: bool
    keeps_stale_total: bool
    uses_compaction_size: bool
    preserves_model: bool
    follows_file_alone: bool
    is_stale: Callable[[Entry], bool] = _marked_stale
    flush_mark: Callable[[Entry], Number | None] = _flat_mark
    flush_fields: Callable[[Number, Number], dict[str, Any]] = _flat_flush
    total_version: int | None = None
    first_total: Number | None = None

    @property
    def new_entry(self) -> dict[str, Any]:
        """What the entry of a session without a turn says of its context."""
        if self.first_total is None:
            return {}
        return {"totalTokens": self.first_total, **self.fresh_fields}

    @property
    def fresh_fields(self) -> dict[str, Any]:
        """What stands beside a total that is fresh."""
        version = {} if self.total_version is None else {"totalTokensVersion": self.total_version}
        return {"totalTokensFresh": True, **version}


INDEX_2026_4_20: Final = IndexRules(
    tokens_after=_above_zero,
    compaction_makes_stale=False,
    keeps_stale_total=False,
    uses_compaction_size=False,
    preserves_model=False,
    follows_file_alone=False,
)
INDEX_2026_5_28: Final = IndexRules(
    tokens_after=_floored_from_zero,
    compaction_makes_stale=True,
    keeps_stale_total=True,
    uses_compaction_size=True,
    preserves_model=True,
    follows_file_alone=True,
)
INDEX_2026_9: Final = replace(
    INDEX_2026_5_28,
    is_stale=_not_marked_fresh,
    flush_mark=_nested_mark,
    flush_fields=_nested_flush,
    total_version=1,
    first_total=0,
)


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
        or _above_zero(report.prompt_tokens) is not None
        or report.usage_is_snapshot
    )
    after = (
        _floored_from_zero(report.compaction_tokens_after) if rules.uses_compaction_size else None
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
