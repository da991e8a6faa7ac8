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
from sessions_app.transcripts.usage import Number

Entry = Mapping[str, Any]


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


def floored_from_zero(value: object) -> Number | None:
    return math.floor(value) if js.is_finite(value) and value >= 0 else None


def above_zero(value: object) -> Number | None:
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
    tokens_after=above_zero,
    compaction_makes_stale=False,
    keeps_stale_total=False,
    uses_compaction_size=False,
    preserves_model=False,
    follows_file_alone=False,
)
INDEX_2026_5_28: Final = IndexRules(
    tokens_after=floored_from_zero,
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
