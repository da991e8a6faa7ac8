"""The entries of one window as arrays: what every chart, rule and replay computes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sessions_app.transcripts.measures import Measures
from sessions_app.transcripts.transcript import Entry, branch, leaves

Ints = NDArray[np.int64]

UNKNOWN: Final = -1
"""Stands for "not known" in every array of tokens and places."""

BLOCK_ROWS: Final = 5000
"""So many rows at a time are lists of Python numbers, which take ten times the room."""

KINDS: Final = (
    "other", "user", "assistant", "tool_result", "bash", "inner", "unknown_role", "custom_message",
    "branch_summary", "compaction",
)  # fmt: skip
(
    OTHER, USER, ASSISTANT, TOOL_RESULT, BASH, INNER, UNKNOWN_ROLE, CUSTOM_MESSAGE, BRANCH_SUMMARY,
    COMPACTION,
) = range(len(KINDS))  # fmt: skip

MARKS: Final = ("", "flush", "injected", "copy", "compact_command", "unknown_type")
_ROLES = {
    "user": USER,
    "assistant": ASSISTANT,
    "toolResult": TOOL_RESULT,
    "bashExecution": BASH,
    "custom": INNER,
    "branchSummary": INNER,
    "compactionSummary": INNER,
}
_TYPES = {
    "custom_message": CUSTOM_MESSAGE,
    "branch_summary": BRANCH_SUMMARY,
    "compaction": COMPACTION,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """One row per entry in file order; ``UNKNOWN`` where nothing is known.

    ``kind`` indexes ``KINDS``, ``mark`` indexes ``MARKS``; ``parent`` and ``kept`` are entry numbers;
    times are epoch milliseconds; token columns as in ``Measures``; ``is_wide`` is 0 or 1; ``bytes`` are
    those of an entry's line with its end; ``tool`` indexes ``tool_names``.
    """

    kind: Ints
    mark: Ints
    parent: Ints
    kept: Ints
    at_ms: Ints
    tokens: Ints
    thinking_tokens: Ints
    call_tokens: Ints
    pressure: Ints
    exact: Ints
    result_chars: Ints
    images: Ints
    pruner_chars: Ints
    view_chars: Ints
    is_wide: Ints
    usage_input: Ints
    usage_output: Ints
    usage_cache_read: Ints
    usage_cache_write: Ints
    tokens_before: Ints
    bytes: Ints
    tool: Ints
    tool_names: tuple[str, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: Ints) -> Columns:
        """The rows named, in that order; ``parent`` and ``kept`` stay entry numbers."""
        return Columns(*(getattr(self, name)[rows] for name in _ARRAYS), tool_names=self.tool_names)

    def parents(self) -> list[int | None]:
        return [None if p == UNKNOWN else int(p) for p in self.parent]

    def branch(self, leaf: int | None = None) -> Ints:
        """Entry numbers from the root to ``leaf``, the last entry unless another is named."""
        if not len(self):
            return np.empty(0, np.int64)
        return np.array(branch(self.parents(), len(self) - 1 if leaf is None else leaf), np.int64)

    def leaves(self) -> list[int]:
        return leaves(self.parents())


_ARRAYS: Final = tuple(field.name for field in fields(Columns))[:-1]


def kind_of(entry_type: str, role: str) -> int:
    """What an entry is to the context; messages of the first seven kinds but ``other``."""
    if entry_type == "message":
        return _ROLES.get(role, UNKNOWN_ROLE)
    return _TYPES.get(entry_type, OTHER)


def columns_of_rows(rows: Iterable[Sequence[Any]]) -> Columns:
    """Columns from rows in the order of the fields, with none for what is unknown.

    The last value of a row is the name of a tool, "" where there is none.
    """
    names: dict[str, int] = {}
    blocks = [np.empty((0, len(_ARRAYS)), np.int64)]
    left = iter(rows)
    while some := list(islice(left, BLOCK_ROWS)):
        table = [
            [UNKNOWN if v is None else v for v in (*row, names.setdefault(tool, len(names)))]
            for *row, tool in some
        ]
        blocks.append(np.array(table, np.int64))
    array = np.ascontiguousarray(np.concatenate(blocks).T)
    return Columns(*array, tool_names=tuple(names))


def columns_of_entries(measured: Iterable[tuple[Entry, Measures]]) -> Columns:
    """Columns of a transcript in memory."""
    return columns_of_rows(row_of(entry, measures) for entry, measures in measured)


def row_of(entry: Entry, measures: Measures) -> tuple[int | str | None, ...]:
    """One row in the order of the fields of ``Columns``."""
    usage = measures.usage
    tool = entry.message.get("toolName")
    return (
        kind_of(entry.type, entry.role),
        MARKS.index(entry.mark),
        entry.parent_seq,
        entry.kept_seq,
        entry.timestamp_ms,
        measures.tokens,
        measures.thinking_tokens,
        measures.call_tokens,
        measures.pressure,
        measures.exact,
        measures.result_chars,
        measures.images,
        measures.pruner_chars,
        measures.view_chars,
        int(measures.is_wide),
        count_of(usage.input) if usage else None,
        count_of(usage.output) if usage else None,
        count_of(usage.cache_read) if usage else None,
        count_of(usage.cache_write) if usage else None,
        measures.tokens_before,
        len(entry.raw) + 1 if entry.raw else None,
        tool if isinstance(tool, str) else "",
    )


def count_of(value: float | None) -> int:
    """A usage figure as a count; a missing part of a known usage is 0."""
    return int(value) if value is not None else 0
