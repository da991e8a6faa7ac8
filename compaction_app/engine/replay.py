"""What-if: a recorded session under a policy, its decisions taking effect.

The recording's messages are sent again, turn by turn. A compaction shortens what follows, a flush
marks its cycle, a cut tool result stays cut. What the recording's own policy caused is stripped first.
The model's answers stay those of the recording: what it would have answered to a shorter context
nobody can know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compaction_app.engine.cache_breaks import CacheBreaks, simulated_breaks
from compaction_app.engine.calibration import Calibration, weigh
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.margin import Margin, margin_of
from compaction_app.engine.passed import NOTHING_PASSED, Passed
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay_context import Cut
from compaction_app.engine.replay_events import COMPACTIONS, Event
from compaction_app.engine.replay_flushes import FlushTurns
from compaction_app.engine.replay_prunable import Trimmed
from compaction_app.engine.replay_pruned_calls import CallPruning
from compaction_app.engine.replay_pruning_found import PrunedCalls
from compaction_app.engine.replay_rows import ReplayRows
from compaction_app.engine.replay_sizes import ContextSizes
from compaction_app.engine.replay_turns import TurnRules
from compaction_app.engine.stripped import STRIPPED_MARKS
from compaction_app.engine.summary_sizes import (
    AS_KNOWN,
    Measure,
    SummaryChoice,
    SummarySizes,
    summary_sizes,
)
from compaction_app.engine.turn.setup import configured_keep
from sessions_app.transcripts.columns import MARKS, UNKNOWN, USER, Ints
from sessions_app.transcripts.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a session, tokens billed or estimated as the curve is.

    ``tokens_resent``: sent again after a cache break; none where nobody knows. ``pruned`` calls and the
    characters they lost are none where pruning is off, and for a recording: it does not tell.
    """

    calls: int
    flushes: int
    compactions: int
    flushed_before: int
    blocked: int
    tokens_sent: int
    peak: int
    tokens_resent: int | None = None
    pruned: int | None = None
    trimmed_chars: int | None = None
    cleared_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """The what-if. ``prompt`` and ``total`` have one value per recorded call, ``UNKNOWN`` where the
    call belongs to what was stripped. ``cuts`` are its compactions as rows of the branch, ``margin`` how
    sure its figures are."""

    lines: Lines
    prompt: Ints
    total: Ints
    events: tuple[Event, ...]
    totals: Totals
    calibration: Calibration
    summaries: SummarySizes
    stripped: dict[str, int]
    pruning: PrunedCalls
    breaks: CacheBreaks
    margin: Margin
    cuts: tuple[Cut, ...] = ()

    @property
    def summary_tokens(self) -> tuple[int, ...]:
        """The size that each simulated summary was given, estimated tokens."""
        return tuple(self.summaries.size(number) for number in range(len(self.cuts)))


def replay(
    grown: Timeline,
    policy: Policy,
    around: Circumstances,
    system_tokens: int | None = None,
    trimmed: Trimmed | None = None,
    choice: SummaryChoice = AS_KNOWN,
    extractive: Measure | None = None,
    passed: Passed = NOTHING_PASSED,
) -> Replay:
    """Run the session again.

    ``system_tokens`` is the estimate of the system prompt where the session's report tells it; without
    it the overhead that calibration found stands in, as far as the recording ``passed`` with it.
    ``trimmed`` weighs tool results whose text cache-TTL pruning must read; without it their weight is
    estimated. ``choice`` and ``extractive`` say how large summaries are (``summary_sizes``).
    """
    lines = lines_of(policy, around)
    weights = weigh(grown)
    rows = ReplayRows(grown, weights)
    summaries = summary_sizes(grown, lines, policy, choice, extractive)
    knows_system = system_tokens is not None
    if system_tokens is None:
        system_tokens = passed.system_tokens(weights.calibration)
    pruning = CallPruning(grown, rows, policy, around, lines, trimmed)
    keeps = configured_keep(policy, around) is not None
    sizes = ContextSizes(rows, lines, around, weights.calibration, system_tokens, keep_is_set=keeps)
    run = TurnRules(
        rows, lines, around, policy, weights.calibration, summaries, sizes, pruning,
        FlushTurns(grown, lines, around), passed.prompt_under(lines.window),
    )  # fmt: skip
    prompt = np.full(grown.calls, UNKNOWN, np.int64)
    last = max(grown.calls - 1, 0)
    for turn, (start, calls) in enumerate(_turns(grown, rows), 1):
        following = int(calls[0]) if len(calls) else int(np.searchsorted(grown.place, start))
        run.begin_turn(turn, start, min(following, last) + 1)
        if len(calls):
            prompt[calls] = run.send(grown.place[calls], int(calls[0]) + 1, grown.output[calls])
        run.end_turn()
        if len(calls):
            pruning.end_attempt(int(grown.place[calls[-1]]))
    pruned = pruning.result()
    known = prompt != UNKNOWN
    breaks = simulated_breaks(grown, rows, weights, prompt, run.cuts, summaries, pruned)
    output = np.where(grown.output == UNKNOWN, grown.columns.tokens[grown.place], grown.output)
    total = np.where(known, prompt + output, UNKNOWN)
    return Replay(
        lines=lines,
        prompt=prompt,
        total=total,
        events=tuple(run.events),
        totals=totals_of(run.events, prompt[known], total[known], run.blocked, pruned, breaks),
        calibration=weights.calibration,
        summaries=summaries,
        stripped=_stripped(grown),
        pruning=pruned,
        breaks=breaks,
        margin=margin_of(weights.calibration, summaries, len(run.cuts), knows_system=knows_system),
        cuts=tuple(run.cuts),
    )


def totals_of(
    events: Sequence[Event],
    prompt: Ints,
    total: Ints,
    blocked: int,
    pruned: PrunedCalls,
    breaks: CacheBreaks,
) -> Totals:
    compactions = [event for event in events if event.kind in COMPACTIONS]
    return Totals(
        calls=len(prompt),
        flushes=sum(event.kind == "flush" for event in events),
        compactions=len(compactions),
        flushed_before=sum(bool(event.flushed_before) for event in compactions),
        blocked=blocked,
        tokens_sent=int(prompt.sum()),
        peak=int(total.max()) if len(total) else 0,
        tokens_resent=breaks.resent,
        pruned=pruned.calls if pruned.settings else None,
        trimmed_chars=int(pruned.trimmed_chars.sum()) if pruned.settings else None,
        cleared_chars=int(pruned.cleared_chars.sum()) if pruned.settings else None,
    )


def _turns(grown: Timeline, rows: ReplayRows) -> list[tuple[int, Ints]]:
    """Each turn's first row and its calls. Calls before the first user message are a turn, too."""
    person = np.flatnonzero((rows.kind == USER) & ~rows.stripped)
    bounds = person if len(person) and person[0] == 0 else np.concatenate(([0], person))
    calls = np.flatnonzero(~rows.stripped[grown.place])
    ends = np.searchsorted(grown.place[calls], bounds[1:])
    turns = zip(bounds.tolist(), np.split(calls, ends), strict=True)
    return [(start, sent) for start, sent in turns if len(sent) or start > 0]


def _stripped(grown: Timeline) -> dict[str, int]:
    """How many entries of each sort were taken out of the recording."""
    counts = {
        name: int((grown.columns.mark == number).sum())
        for number, name in enumerate(MARKS)
        if name in STRIPPED_MARKS
    }
    return {"compaction": len(grown.compactions.place), **counts}
