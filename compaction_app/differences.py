"""The difference table: what was recorded, what the current policy gives, what the what-if gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from compaction_app.engine.guarded_calls import GuardedCalls
from compaction_app.engine.replay import Totals
from compaction_app.engine.retention.ledger import Tally
from compaction_app.engine.stripped import stripped_rows
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.timeline import Timeline

RESENT_HELP: Final = (
    "Prompt tokens sent again after a cache break. A call pays in full for what stands behind the point where "
    "its prompt parts from the one before: a compaction, a cut or pruned result, or a pause longer than the "
    "cache lives (contextPruning.ttl, else 5 minutes) moves that point forward. Recorded: what the bills show, "
    "other losses of the provider included; unknown where they tell of no cache. What-if: estimated, if the "
    "provider caches prompts."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One row of the difference table; ``trend`` compares the what-if with the
    current policy: "up" or "down", and "better" or "worse"."""

    title: str
    help: str
    recorded: str
    now: str
    what_if: str
    trend: str


def differences(recorded: Totals, now: Totals, after: Totals) -> list[Difference]:
    """Recorded, current policy and what-if side by side; fewer is better unless said otherwise."""

    def row(title: str, help: str, name: str, fewer_is_better: bool = True) -> Difference:
        figures = [getattr(totals, name) for totals in (recorded, now, after)]
        texts = ["unknown" if figure is None else f"{figure:,}" for figure in figures]
        trend = _trend(int(figures[1] or 0), int(figures[2] or 0), fewer_is_better)
        return Difference(title, help, texts[0], texts[1], texts[2], trend)

    shares = tuple(f"{t.flushed_before} of {t.compactions}" for t in (recorded, now, after))
    missed = [t.compactions - t.flushed_before for t in (now, after)]
    return [
        Difference(
            "flushes before compaction",
            "Compactions that a memory flush came before, in the same cycle",
            shares[0],
            shares[1],
            shares[2],
            _trend(missed[0], missed[1], True).replace("down", "").replace("up", ""),
        ),
        row("memory flushes", "Flush turns", "flushes", fewer_is_better=False),
        row("compactions", "Compactions of every kind", "compactions"),
        row("turns blocked", "Turns that end in the overflow reply", "blocked"),
        row(
            "tokens sent",
            "Prompt tokens of all calls of the conversation together, without flush turns",
            "tokens_sent",
        ),
        row("tokens re-sent", RESENT_HELP, "tokens_resent"),
        row("peak", "Largest prompt with its answer, tokens", "peak"),
        *_pruning(now, after),
    ]


def retention_differences(recorded: Tally, now: Tally, after: Tally) -> list[Difference]:
    """What compactions lose: by the recorded summaries, else by what one without a model has room for."""
    tallies = (recorded, now, after)
    lost = [f"{t.lost:,} of {t.removed:,}" for t in tallies]
    rules = [f"{t.constraints_lost:,} of {t.constraints:,}" for t in tallies]
    return [
        Difference(
            "anchors lost",
            "Of the identifiers, constraints, decisions, tasks, errors and file actions in what compactions "
            "remove, those that then stand neither in the kept tail nor in a summary: the recorded one, in a "
            "what-if the one without a model (estimated). What still stands is an upper bound on what the "
            "model recalls.",
            lost[0],
            lost[1],
            lost[2],
            _trend(now.lost, after.lost, True),
        ),
        Difference(
            "constraints lost",
            "The same, only what the user demanded or forbade",
            rules[0],
            rules[1],
            rules[2],
            _trend(now.constraints_lost, after.constraints_lost, True),
        ),
    ]


def guard_differences(now: GuardedCalls, after: GuardedCalls) -> list[Difference]:
    """At how many calls the guard acts; rows for a what-if in which its constants are tried."""

    def row(title: str, help: str, before: int, then: int) -> Difference:
        return Difference(title, help, "unknown", f"{before:,}", f"{then:,}", "")

    return [
        row(
            "calls with a cut result",
            "Model calls at which the guard cuts a tool result in view, estimated",
            now.cut,
            after.cut,
        ),
        row(
            "calls over the guard’s limit",
            "Model calls whose whole context the guard finds too large, estimated",
            now.over,
            after.over,
        ),
    ]


def unlike(recorded: Totals, now: Totals) -> str:
    """Where the what-if under the session's own settings parts from the recording, "" if nowhere."""
    parts = [
        f"{getattr(now, name):,} {title} where {getattr(recorded, name):,} were recorded"
        for name, title in (
            ("flushes", "memory flushes"),
            ("compactions", "compactions"),
            ("blocked", "blocked turns"),
        )
        if getattr(now, name) != getattr(recorded, name)
    ]
    return ", ".join(parts)


def tokens_apart(grown: Timeline, recorded: Totals, now: Totals) -> str:
    """Why the tokens sent differ although nothing fires in either, "" where that needs no word."""
    quiet = not (recorded.compactions or now.compactions or now.blocked or now.pruned)
    if not quiet or recorded.tokens_sent == now.tokens_sent:
        return ""
    own = ~stripped_rows(grown.columns)[grown.place]
    billed = grown.billed_prompt[own & (grown.billed_prompt != UNKNOWN)]
    falls, missing = int((np.diff(billed) < 0).sum()), int((own & grown.is_estimate).sum())
    parts = []
    if falls:
        parts.append(
            f"the recorded prompt fell {falls:,} time{'' if falls == 1 else 's'} without a compaction on "
            "record (something was left out), where the what-if keeps everything"
        )
    if missing:
        parts.append(
            f"{missing:,} call{'' if missing == 1 else 's'} reported no usage, and of these the recording "
            "counts the messages alone, the what-if also what every call carries beside them"
        )
    return "; ".join(parts)


def _pruning(now: Totals, after: Totals) -> list[Difference]:
    """What pruning takes out of view; no rows while it is off in both."""
    if now.pruned is None and after.pruned is None:
        return []
    return [
        _neutral(
            "calls pruned",
            "Model calls that saw old tool results shortened or cleared",
            "pruned",
            now,
            after,
        ),
        _neutral(
            "characters trimmed",
            "Taken out of results by soft trim, summed over calls",
            "trimmed_chars",
            now,
            after,
        ),
        _neutral(
            "characters cleared",
            "Taken out by hard clear, summed over calls",
            "cleared_chars",
            now,
            after,
        ),
    ]


def _neutral(title: str, help: str, name: str, now: Totals, after: Totals) -> Difference:
    """A row that a recording tells nothing of, and of which neither more nor less is better."""
    figures = [getattr(totals, name) for totals in (now, after)]
    texts = ["off" if figure is None else f"{figure:,}" for figure in figures]
    return Difference(title, help, "unknown", texts[0], texts[1], "")


def _trend(before: int, after: int, fewer_is_better: bool) -> str:
    if before == after:
        return ""
    direction = "down" if after < before else "up"
    return f"{direction} {'better' if (after < before) == fewer_is_better else 'worse'}"
