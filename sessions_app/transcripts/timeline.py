"""How a session's context grew: per model call what was billed, what is estimated, and of what.

A model call is an assistant message that the gateway did not write itself. Its context is what the
runtime would have built from the branch before it (spec budgets 7.4, buildSessionContext): the
summary of the last compaction, the entries that compaction kept, and everything since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sessions_app.transcripts.columns import (
    ASSISTANT,
    BASH,
    BRANCH_SUMMARY,
    COMPACTION,
    MARKS,
    TOOL_RESULT,
    UNKNOWN,
    USER,
    Columns,
    Ints,
)

PARTS: Final = ("summary", "user", "assistant", "thinking", "tool calls", "tool results", "other")
"""What a context is made of, in the order in which the chart stacks them."""

_INJECTED = MARKS.index("injected")
_PERSON_MARKS = np.array([mark in ("", "compact_command", "copy") for mark in MARKS])


@dataclass(frozen=True, slots=True)
class Compactions:
    """The compactions on a branch; places are positions on the branch.

    ``before_call`` is the call that came next (the number of calls when none did); ``kept`` where the
    kept tail begins; ``tokens_before`` what the entry says, ``UNKNOWN`` where it does not.
    """

    place: Ints
    kept: Ints
    before_call: Ints
    summary_tokens: Ints
    tokens_before: Ints


@dataclass(frozen=True, slots=True)
class Timeline:
    """One row per model call, in order; all figures in tokens.

    ``billed_prompt`` is input + cacheRead + cacheWrite, ``billed_total`` that plus output, both
    ``UNKNOWN`` where the provider reported nothing. ``estimated`` is the estimate of the messages
    (characters / 4, no system prompt); ``exact`` the same by the vocabulary, ``UNKNOWN`` without.
    ``shown`` is what the curve shows: billed where known, otherwise the last billed total plus the
    estimate of what came after it, marked in ``is_estimate``. ``parts`` has one row per ``PARTS``.
    ``turns`` counts all user messages, also those that no call followed.
    """

    columns: Columns
    branch: Ints
    place: Ints
    turn: Ints
    at_ms: Ints
    billed_prompt: Ints
    billed_total: Ints
    output: Ints
    estimated: Ints
    exact: Ints
    shown: Ints
    is_estimate: NDArray[np.bool_]
    parts: Ints
    compactions: Compactions
    turns: int

    @property
    def calls(self) -> int:
        return len(self.place)

    @property
    def peak(self) -> int:
        """The highest point of the curve, 0 without calls."""
        return int(self.shown.max()) if self.calls else 0


def timeline(columns: Columns, leaf: int | None = None) -> Timeline:
    """The growth along the branch that ends at ``leaf``, the last entry unless one is named."""
    path = columns.branch(leaf)
    rows = columns.take(path)
    is_call = (rows.kind == ASSISTANT) & (rows.mark != _INJECTED)
    place = np.flatnonzero(is_call)
    compactions = _compactions(rows, path, place)
    base, start = _bases(compactions, place)
    estimated = base + _between(rows.tokens * (rows.kind != COMPACTION), start, place)
    prompt = rows.usage_input + rows.usage_cache_read + rows.usage_cache_write
    known = rows.usage_input[place] != UNKNOWN
    billed_prompt = np.where(known, prompt[place], UNKNOWN)
    billed_total = np.where(known, prompt[place] + rows.usage_output[place], UNKNOWN)
    is_person = (rows.kind == USER) & _PERSON_MARKS[rows.mark]
    return Timeline(
        columns=rows,
        branch=path,
        place=place,
        turn=np.cumsum(is_person)[place],
        at_ms=rows.at_ms[place],
        billed_prompt=billed_prompt,
        billed_total=billed_total,
        output=np.where(known, rows.usage_output[place], UNKNOWN),
        estimated=estimated,
        exact=_exact(rows, compactions, start, place),
        shown=_shown(billed_total, estimated, rows.tokens[place], compactions),
        is_estimate=~known,
        parts=_parts(rows, base, start, place),
        compactions=compactions,
        turns=int(is_person.sum()),
    )


def _compactions(rows: Columns, path: Ints, calls: Ints) -> Compactions:
    place = np.flatnonzero(rows.kind == COMPACTION)
    kept = np.searchsorted(path, rows.kept[place])
    kept_is_here = (kept < place) & (path[np.minimum(kept, len(path) - 1)] == rows.kept[place])
    return Compactions(
        place=place,
        kept=np.where(kept_is_here, kept, place),
        before_call=np.searchsorted(calls, place),
        summary_tokens=rows.tokens[place],
        tokens_before=rows.tokens_before[place],
    )


def _bases(compactions: Compactions, places: Ints) -> tuple[Ints, Ints]:
    """For each place: the summary's tokens, and where the entries of its context begin."""
    last = np.searchsorted(compactions.place, places) - 1
    if not len(compactions.place):
        return np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    known = last >= 0
    return (
        np.where(known, compactions.summary_tokens[last], 0),
        np.where(known, compactions.kept[last], 0),
    )


def _between(values: Ints, start: Ints, end: Ints) -> Ints:
    """The sum of ``values[start:end]`` for each pair."""
    sums = np.concatenate(([0], np.cumsum(values)))
    return np.asarray(sums[end] - sums[start], np.int64)


def _exact(rows: Columns, compactions: Compactions, start: Ints, place: Ints) -> Ints:
    if not len(rows) or (rows.exact == UNKNOWN).any():
        return np.full(len(place), UNKNOWN)
    summaries, _ = _bases(
        Compactions(
            compactions.place,
            compactions.kept,
            compactions.before_call,
            rows.exact[compactions.place],
            compactions.tokens_before,
        ),
        place,
    )
    return summaries + _between(rows.exact * (rows.kind != COMPACTION), start, place)


def _shown(billed: Ints, estimated: Ints, answer: Ints, compactions: Compactions) -> Ints:
    """The curve: billed totals, continued by estimates where the provider reported nothing."""
    calls = np.arange(len(billed))
    known = billed != UNKNOWN
    last_known = np.maximum.accumulate(np.where(known, calls, -1))
    cycle = np.searchsorted(compactions.before_call, calls, side="right")
    usable = (last_known >= 0) & (cycle[last_known] == cycle)
    # What the last billed call sent and got, plus the estimate of what has come since.
    grown = billed[last_known] + estimated - estimated[last_known] - answer[last_known] + answer
    continued = np.where(usable, grown, estimated + answer)
    return np.where(known, billed, np.maximum(continued, 0))


def _parts(rows: Columns, base: Ints, start: Ints, place: Ints) -> Ints:
    kind, tokens = rows.kind, rows.tokens
    is_answer = kind == ASSISTANT
    spoken = np.maximum(tokens - rows.thinking_tokens - rows.call_tokens, 0)
    thinking = np.minimum(rows.thinking_tokens, tokens)
    calls = np.minimum(rows.call_tokens, tokens - thinking)
    per_entry = (
        tokens * (kind == USER),
        spoken * is_answer,
        thinking * is_answer,
        calls * is_answer,
        tokens * (kind == TOOL_RESULT),
        tokens * ((kind >= BASH) & (kind <= BRANCH_SUMMARY)),
    )
    return np.stack([base, *(_between(values, start, place) for values in per_entry)])
