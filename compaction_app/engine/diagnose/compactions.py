"""Did the compactions help? What was freed, what repeats, what was counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Final

import numpy as np

from compaction_app.engine.diagnose.finding import Finding
from compaction_app.engine.diagnose.history import Compacted, History
from compaction_app.engine.diagnose.overhead import overhead_tokens
from compaction_app.engine.diagnose.reserve import smaller_keep
from compaction_app.engine.diagnose.subject import Subject
from sessions_app.plurals import counted
from sessions_app.transcripts.columns import TOOL_RESULT
from sessions_app.transcripts.session_index import compaction_count

LEAST_FREED: Final = 0.05
"""A compaction that frees a smaller share of the context made no progress."""

LEAST_CONTEXT: Final = 100
"""Smaller contexts say nothing about a share, tokens."""

FEW_TURNS: Final = 5
"""Compactions that follow each other by no more turns than this come too often."""

FEW_CALLS: Final = 25
"""... unless these turns made more calls than this: then the work was long, not the window short."""

LOCK_WAIT_MS: Final = 60_000
"""How long a message waits for a compaction that does not end (runs 3.6)."""


def find(subject: Subject, history: History) -> Iterator[Finding]:
    """Findings about recorded compactions, and about one that is due."""
    yield from _progress(subject, history)
    yield from _often(subject, history)
    if subject.is_known:
        yield from _stalled(subject, history)
        yield from _count(subject, history)


def _progress(subject: Subject, history: History) -> Iterator[Finding]:
    fix = smaller_keep(subject)
    judged = [c for c in history.compactions if c.before >= LEAST_CONTEXT]
    idle = [c for c in judged if c.freed < LEAST_FREED]
    grew = [c for c in judged if c.after > c.before]
    if idle:
        yield _sized(
            "NO_PROGRESS",
            idle,
            f"{len(idle)} of {len(history.compactions)} compactions freed less than "
            f"{LEAST_FREED:.0%} of the context",
            fix,
        )
    if grew:
        yield _sized(
            "COMPACTION_GREW",
            grew,
            f"{len(grew)} of {len(history.compactions)} compactions left more than there was",
            fix,
        )
    automatic = [c for c in history.compactions if not c.is_manual]
    in_one_turn = [after for before, after in pairwise(automatic) if after.turn == before.turn]
    idle_again = [c for c in idle if not c.is_manual][1:]
    repeated = sorted([*in_one_turn, *idle_again], key=lambda c: c.place)
    if repeated:
        places = {c.place for c in repeated}
        yield Finding(
            "COMPACTION_LOOP",
            f"{len(places)} compactions repeated one before without a user's turn between them or "
            "without progress: tokens are spent on summaries and nothing is gained.",
            {
                "repeated": len(places),
                "withoutTurnBetween": len(in_one_turn),
                "withoutProgress": len(idle_again),
                "compactions": len(history.compactions),
            },
            fix,
            repeated[0].line,
        )


def _sized(
    code: str, found: Sequence[Compacted], consequence: str, fix: Mapping[str, Any]
) -> Finding:
    """A finding on the first of several compactions, with its sizes and their measure."""
    first = found[0]
    return Finding(
        code,
        f"{consequence}; the first went from {first.before:,} to {first.after:,} {first.measure}.",
        {
            "before": first.before,
            "after": first.after,
            "freedPercent": round(100 * first.freed, 1),
            "measure": first.measure,
            "compactions": len(found),
        },
        fix,
        first.line,
    )


def _often(subject: Subject, history: History) -> Iterator[Finding]:
    good = [c for c in history.compactions if c.freed >= LEAST_FREED and not c.is_manual]
    if len(good) < 2:
        return
    # Those without a turn between them are a loop, which is another finding.
    pairs = [(before, after) for before, after in pairwise(good) if after.turn > before.turn]
    if not pairs:
        return
    turns = [after.turn - before.turn for before, after in pairs]
    calls = [after.call - before.call for before, after in pairs]
    between = median(turns)
    if between > FEW_TURNS or median(calls) > FEW_CALLS:
        return
    cause, share = _cause(subject, history, good)
    yield Finding(
        "COMPACTS_OFTEN",
        f"Compactions work but follow each other by {between:g} turns; the room goes to {cause}.",
        {"turnsBetween": between, "compactions": len(good), "cause": cause, "share": round(share, 2)},
        smaller_keep(subject) if cause == "the kept tail" else {},
        good[1].line,
    )  # fmt: skip


def _cause(subject: Subject, history: History, good: Sequence[Compacted]) -> tuple[str, float]:
    """What takes most of the window of a cycle, and its share of it."""
    window = max(subject.lines.window, 1)
    start, end = good[-2].place, good[-1].place
    rows = history.grown.columns
    results = int(rows.tokens[start:end][rows.kind[start:end] == TOOL_RESULT].sum())
    shares = {
        "the reserve": float(subject.lines.settings.reserve_tokens) / window,
        "the kept tail": history.estimate(good[-1].kept, end) / window,
        "tool results": results / window,
        "system prompt and tools": overhead_tokens(subject) / window,
    }
    if not subject.is_known:
        del shares["the reserve"]
    name = max(shares, key=lambda key: shares[key])
    if shares[name] < 0.25:
        return "a window that is small for these turns", 1.0
    return name, shares[name]


def _stalled(subject: Subject, history: History) -> Iterator[Finding]:
    """The total was above the inner threshold, no compaction came of it, and the next message waited."""
    inner, grown = subject.lines.named("inner_threshold"), history.grown
    if not inner.active:
        return
    for wait in history.signs.waits:
        place = history.place_of(wait.seq)
        if place is None or wait.wait_ms < LOCK_WAIT_MS:
            continue
        call = int(np.searchsorted(grown.place, place)) - 1
        if call < 0 or int(grown.billed_total[call]) <= inner.tokens:
            continue
        between = [c for c in history.compactions if int(grown.place[call]) < c.place < place]
        if any(int(grown.columns.at_ms[c.place]) < wait.arrived_ms for c in between):
            continue
        yield Finding(
            "COMPACTION_STALLED",
            f"The compaction at the inner threshold ended incomplete: the next message waited "
            f"{wait.wait_ms / 1000:.0f} seconds.",
            {
                "waitSeconds": round(wait.wait_ms / 1000, 1),
                "totalTokens": int(grown.billed_total[call]),
                "innerThreshold": inner.tokens,
            },
            line=wait.line,
        )


def _count(subject: Subject, history: History) -> Iterator[Finding]:
    if subject.entry is None:
        return
    known, recorded = int(compaction_count(subject.entry)), len(history.compactions)
    if known >= recorded:
        return
    yield Finding(
        "COUNT_UNDERSTATED",
        f"The index counts {counted(known, 'compaction')}, the transcript holds {recorded}: the flush takes "
        "several cycles for one and runs less often.",
        {"compactionCount": known, "recordedCompactions": recorded},
        line=history.compactions[-1].line,
    )
