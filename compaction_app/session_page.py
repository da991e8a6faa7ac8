"""The session page: everything its templates show, from the engine's values. No arithmetic in views."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compaction_app.calibration_panel import calibration_panel
from compaction_app.comparison_query import comparison_query
from compaction_app.differences import differences, tokens_apart, unlike
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.lines import Line, Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import config_changes
from compaction_app.engine.reasons import sentence
from compaction_app.engine.replay import Replay
from compaction_app.experimental_panel import experiment_of
from compaction_app.fidelity import fidelity
from compaction_app.forms import Query, query_of
from compaction_app.lost_rows import compacts, lost_rows
from compaction_app.panel import knob_notes
from compaction_app.pruned_calls import folded_prunes, prune_marks, pruning_view
from compaction_app.recorded import (
    Happening,
    recorded_happenings,
    recorded_totals,
    simulated_happenings,
)
from compaction_app.runs import Situation, replay_for, timeline_for, verdict_on
from compaction_app.summary_choice import told_sizes
from compaction_app.tried_cuts import guard_rows, tried_view
from sessions_app.drawing.growth import Curve, Mark, Rule, growth_chart
from sessions_app.entries import MARK_TITLES
from sessions_app.loaded import columns_of, strip_of
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.timeline import Timeline

MAX_EVENT_ROWS = 30
STRIPPED_TITLES = {
    "compaction": "compactions",
    "flush": "entries of flush turns",
    "injected": "replies of the gateway",
    "compact_command": "entries of typed /compact",
}
SHOWN_FINDINGS = 6


@dataclass(frozen=True, slots=True)
class Problem:
    finding: Finding
    fix_query: str


def chart_context(situation: Situation, query: Query) -> dict[str, Any]:
    """What a move of a knob must show at once: the chart, what it is made of, the differences."""
    grown, done, happenings = _replayed(situation, query)
    now = replay_for(situation, situation.policy, situation.around, query.leaf, query.summary)
    recorded = recorded_totals(grown)
    chart = growth_chart(
        _curves(grown, done, situation.session.encoding),
        _rules(done.lines),
        [*_marks(happenings), *prune_marks(done, happenings, query.span)],
        query.span,
    )
    return {
        "chart": chart,
        "readout": json.dumps(chart.readout, separators=(",", ":")),
        "strip": strip_of(situation.window, query.leaf, query.span) if grown.calls else None,
        "experiment": experiment_of(situation, query),
        "differences": [
            *differences(recorded, now.totals, done.totals),
            *guard_rows(situation, query, now, done),
        ],
        "lost_rows": lost_rows(situation, query, now, done),
        "counts_lost": compacts(grown, now, done),
        "unlike": unlike(recorded, now.totals),
        "tokens_apart": tokens_apart(grown, recorded, now.totals),
        "summaries": told_sizes(done),
        "margin": done.margin,
        "address": query_of(query, situation),
        "whole_query": query_of(query, situation, from_=None, to=None),
        "problems": query.problems,
    }


def details_context(situation: Situation, query: Query) -> dict[str, Any]:
    """What may follow a moment later: pruning, events, lines, verdict, notes of the knobs."""
    grown, done, happenings = _replayed(situation, query)
    verdict = _verdict(situation, query, done.lines)
    config = config_changes(
        query.policy, (Policy(), situation.policy), query.around.provider, query.around.model
    )
    return {
        "situation": situation,
        "pruning": pruning_view(grown, done, query.around, query.span),
        "tried": tried_view(situation, query, done),
        "events": happenings if query.all_events else happenings[:MAX_EVENT_ROWS],
        "more_events": 0 if query.all_events else max(len(happenings) - MAX_EVENT_ROWS, 0),
        "lines": [(line, sentence(line.reason)) for line in done.lines.lines],
        "verdict": verdict[:SHOWN_FINDINGS],
        "more_verdict": verdict[SHOWN_FINDINGS:],
        "replay": done,
        "is_changed": query.policy != situation.policy or query.around != situation.around,
        "address": query_of(query, situation),
        "compare_query": comparison_query(
            query_of(query, situation, from_=None, to=None, leaf=None)
        ),
        "config_text": json.dumps(config, indent=2),
        "all_estimates": grown.calls > 0 and bool(grown.is_estimate.all()),
        "notes_of_knobs": knob_notes(situation, query, done),
        "calls": grown.calls,
        "stripped": [
            (count, STRIPPED_TITLES[name]) for name, count in done.stripped.items() if count
        ],
    }


def _replayed(situation: Situation, query: Query) -> tuple[Timeline, Replay, list[Happening]]:
    """The recording, its what-if, and what happened in both, numbered as the page shows it."""
    grown = timeline_for(situation, query.leaf)
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    simulated = [*simulated_happenings(grown, done), *folded_prunes(done)]
    return grown, done, _numbered([*recorded_happenings(grown), *simulated])


def head_context(situation: Situation, query: Query) -> dict[str, Any]:
    """Title, facts, branches, and how the windows were found."""
    grown = timeline_for(situation, query.leaf)
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    own = replay_for(situation, situation.policy, situation.around, query.leaf, query.summary).lines
    ends = grown.branch[-1] if len(grown.branch) else None
    return {
        "situation": situation,
        "peak": grown.peak if grown.calls else None,
        "own_window": own.window,
        "peak_share": grown.peak / own.window if grown.calls and own.window else None,
        "billed_calls": int((~grown.is_estimate).sum()),
        "turns": grown.turns,
        "recorded": recorded_totals(grown),
        "fidelity": fidelity(situation, grown) if query.leaf is None else None,
        "calibration": calibration_panel(grown, done.calibration),
        "branches": _branches(situation, query, ends),
        "traces": (
            ("Memory flush and preflight", done.lines.flush_window),
            ("Runs, pruning and compaction", done.lines.run_window),
            ("Replies and status", done.lines.reply_window),
        ),
        "marked": [
            (count, MARK_TITLES[name])
            for name, count in situation.session.facts.get("marks", {}).items()
            if count
        ],
    }


def _curves(grown: Timeline, done: Replay, encoding: str) -> list[Curve]:
    curves = [Curve("estimated", "estimated (messages, characters / 4)", grown.estimated)]
    if grown.is_estimate.any():
        title = "no usage reported: estimated"
        estimates = np.where(grown.is_estimate, grown.shown, UNKNOWN)
        curves.append(Curve("continued", title, grown.shown, told=False))
        curves.append(Curve("continued", title, estimates, drawn=False))
    if not grown.is_estimate.all():
        curves.append(Curve("billed", "billed total", grown.billed_total))
    curves.append(Curve("what-if", "what-if", done.total, bridged=True))
    curves.append(Curve("exact", f"messages by {encoding}", grown.exact, drawn=False))
    return curves


def _rules(lines: Lines) -> list[Rule]:
    return [
        Rule(line.name, _rule_title(line), line.tokens, not line.active, _rule_help(line))
        for line in lines.lines
        if line.tokens > 0
    ]


def _rule_title(line: Line) -> str:
    return line.title if line.active else f"{line.title} (off)"


def _rule_help(line: Line) -> str:
    return f"{line.title}: {line.tokens:,} {line.unit}; {sentence(line.reason)}"


def _marks(happenings: Sequence[Happening]) -> list[Mark]:
    return [
        Mark(
            f"{'simulated' if h.simulated else 'recorded'} {h.kind}",
            h.kind,
            f"call {h.call}: {h.title}, {'what-if' if h.simulated else 'recorded'}: {sentence(h.reason)}",
            h.call,
            h.value,
            f"#event-{h.number}",
        )
        for h in happenings
        if h.kind != "prune" and (h.kind != "guard" or h.reason == "context_overflow")
    ]


def _numbered(happenings: list[Happening]) -> list[Happening]:
    ordered = sorted(happenings, key=lambda h: (h.call, h.simulated))
    return [replace(h, number=number) for number, h in enumerate(ordered, 1)]


def _verdict(situation: Situation, query: Query, lines: Lines) -> list[Problem]:
    problems = []
    for finding in verdict_on(situation, query.policy, query.around, lines, query.leaf):
        fixes = {key: "" if value is None else value for key, value in finding.fix.items()}
        problems.append(Problem(finding, query_of(query, situation, **fixes) if fixes else ""))
    return problems


def _branches(situation: Situation, query: Query, ends: Any) -> list[tuple[int, bool, str]]:
    columns = timeline_for(situation).columns
    if not len(columns):
        return []
    ends_at = columns_of(situation.window).leaves()
    if len(ends_at) < 2:
        return []
    newest = max(ends_at)
    return [
        (
            leaf,
            leaf == ends,
            query_of(query, situation, leaf=None if leaf == newest else leaf, from_=None, to=None),
        )
        for leaf in sorted(ends_at, reverse=True)[:20]
    ]
