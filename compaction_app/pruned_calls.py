"""Pruning on the session page: bars per call, why the others were left alone, markers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.pruning_effects import ineligible
from compaction_app.engine.reasons import sentence
from compaction_app.engine.replay import Replay
from compaction_app.engine.replay_pruned_calls import NOT_SENT
from compaction_app.engine.replay_pruning_found import PrunedCalls
from compaction_app.recorded import Happening
from sessions_app.drawing.bars import Bars, stacked_bars
from sessions_app.drawing.growth import Mark, clamped
from sessions_app.drawing.scale import Scale
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.timeline import Timeline

LAYERS = ("soft-trimmed", "cleared")
MOST_TICKS = 60
MOST_MARKS = 120

Span = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class WhyTick:
    """A call that was not pruned: where it lies below the bars, and why, in words."""

    x: str
    title: str


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """How many calls ended with a reason."""

    reason: str
    pruned: bool
    calls: int
    first: int
    detail: str


@dataclass(frozen=True, slots=True)
class PruningView:
    """The strip. ``gap`` is the longest time between two calls, "" with fewer; ``ttl`` what it must
    reach."""

    bars: Bars
    ticks: tuple[WhyTick, ...]
    rows: tuple[ReasonRow, ...]
    pruned: int
    calls: int
    gap: str
    ttl: str
    is_exact: bool


def pruning_view(
    grown: Timeline, done: Replay, around: Circumstances, span: Span
) -> PruningView | None:
    """What the page shows of pruning; none when its mode is off."""
    pruning = done.pruning
    if pruning.settings is None or not grown.calls:
        return None
    parts = np.stack([pruning.trimmed_chars, pruning.cleared_chars])
    gaps = np.diff(grown.at_ms[grown.at_ms != UNKNOWN])
    return PruningView(
        bars=stacked_bars(LAYERS, parts, span),
        ticks=tuple(_ticks(pruning, around, span)),
        rows=tuple(_rows(pruning, around)),
        pruned=pruning.calls,
        calls=sum(reason != NOT_SENT for reason in pruning.reason),
        gap=duration(int(gaps.max())) if len(gaps) and gaps.max() >= 0 else "",
        ttl=duration(int(pruning.settings.ttl_ms)),
        is_exact=pruning.is_exact,
    )


def _ticks(pruning: PrunedCalls, around: Circumstances, span: Span) -> Iterator[WhyTick]:
    """Of the calls that were not pruned as many as there is room for, evenly spread."""
    first, last = clamped(span, len(pruning.reason))
    x = Scale(first, max(last, first + 1))
    step = max(1, -(-(last - first + 1) // MOST_TICKS))
    for start in range(first - 1, last, step):
        idle = [
            call
            for call in range(start, min(start + step, last))
            if not pruning.fired[call] and pruning.reason[call] != NOT_SENT
        ]
        if not idle:
            continue
        call = idle[0]
        reason = pruning.reason[call]
        same = sum(pruning.reason[other] == reason for other in idle) - 1
        more = f" (and {same} more here)" if same else ""
        title = f"call {call + 1} not pruned: {_why(pruning, call, around)}{more}"
        yield WhyTick(x.percent(call + 1), title)


def _rows(pruning: PrunedCalls, around: Circumstances) -> Iterator[ReasonRow]:
    """Pruned calls first, then by how often."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for call, (reason, fired) in enumerate(
        zip(pruning.reason, pruning.fired.tolist(), strict=True)
    ):
        if reason != NOT_SENT:
            groups.setdefault((reason, fired), []).append(call)
    ordered = sorted(groups.items(), key=lambda item: (not item[0][1], -len(item[1])))
    for (reason, fired), calls in ordered:
        text = _sentence(pruning, calls[0], around)
        yield ReasonRow(text, fired, len(calls), calls[0] + 1, _detail(pruning, reason, calls))


def _sentence(pruning: PrunedCalls, call: int, around: Circumstances) -> str:
    reason = pruning.reason[call]
    if reason == "provider_not_eligible":
        return ineligible(around)
    looked = pruning.chars[call] != UNKNOWN and reason != "below_soft_trim_ratio"
    if looked and not pruning.fired[call]:
        return "over softTrimRatio, but no old result is long enough to trim, and none is cleared"
    return sentence(reason)


def _why(pruning: PrunedCalls, call: int, around: Circumstances) -> str:
    """The reason with its numbers."""
    text = _sentence(pruning, call, around)
    detail = _detail(pruning, pruning.reason[call], [call])
    return f"{text} ({detail})" if detail else text


def _detail(pruning: PrunedCalls, reason: str, calls: Sequence[int]) -> str:
    """The number nearest to the limit, with the limit."""
    settings = pruning.settings
    if settings is None:
        return ""
    if reason == "ttl_not_elapsed":
        gap = max(int(pruning.gap_ms[call]) for call in calls)
        return f"{_most(calls)}{duration(gap)} of {duration(int(settings.ttl_ms))}"
    if reason == "below_soft_trim_ratio":
        chars = max(int(pruning.chars[call]) for call in calls)
        ratio = chars / pruning.window_chars
        limit = settings.soft_trim_ratio
        return f"{_most(calls)}{ratio:.3f} of {limit:g}: {chars:,} of {pruning.window_chars:,} characters"
    return ""


def _most(calls: Sequence[int]) -> str:
    return "at most " if len(calls) > 1 else ""


def duration(ms: int) -> str:
    """A time span in its two largest units."""
    if ms < 1000:
        return f"{ms} ms"
    units = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))
    left, parts = ms, []
    for name, size in units:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])


def folded_prunes(done: Replay) -> list[Happening]:
    """One row for each run of pruned calls that nothing else interrupts, with its first decision."""
    runs: list[list[int]] = []
    interrupted = True
    for event in done.events:
        if event.kind != "prune":
            interrupted = True
            continue
        if interrupted:
            runs.append([])
        runs[-1].append(event.call)
        interrupted = False
    by_call = {event.call: event for event in done.events if event.kind == "prune"}
    return [
        Happening(
            number=0,
            call=run[0],
            turn=by_call[run[0]].turn,
            kind="prune",
            simulated=True,
            reason=by_call[run[0]].reason,
            before=by_call[run[0]].tokens_before,
            after=by_call[run[0]].tokens_after,
            threshold=None,
            unit="",
            flushed_before=None,
            value=int(done.total[run[0] - 1]),
            note=_note(run, done.pruning),
            decision=done.pruning.decision(run[0] - 1),
        )
        for run in runs
    ]


def _note(run: Sequence[int], pruning: PrunedCalls) -> str:
    calls = np.array(run) - 1
    trimmed, cleared = pruning.trimmed_chars[calls].sum(), pruning.cleared_chars[calls].sum()
    lost = f"{trimmed:,} characters soft-trimmed, {cleared:,} cleared"
    if len(run) == 1:
        return f"in view only: {lost}"
    return f"in view only, at {len(run):,} calls up to call {run[-1]:,}: {lost}"


def prune_marks(done: Replay, rows: Sequence[Happening], span: Span) -> list[Mark]:
    """A marker for each pruned call, as far as there is room, linked to the row that names it."""
    folds = [row for row in rows if row.kind == "prune"]
    starts = [row.call for row in folds]
    first, last = clamped(span, len(done.total))
    gap = (last - first + 1) / MOST_MARKS
    marks: list[Mark] = []
    for place in np.flatnonzero(done.pruning.fired[first - 1 : last]).tolist():
        call = first + place
        at = bisect_right(starts, call) - 1
        if at < 0 or (marks and call - marks[-1].call < gap):
            continue
        reason = sentence(done.pruning.reason[call - 1])
        title = f"call {call}: prune, what-if: {reason}"
        value, target = int(done.total[call - 1]), f"#event-{folds[at].number}"
        marks.append(Mark("simulated prune", "prune", title, call, value, target))
    return marks
