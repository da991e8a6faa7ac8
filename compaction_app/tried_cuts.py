"""What constants that are tried do to a session's tool results, and to its calls before the guard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from compaction_app.differences import Difference, guard_differences
from compaction_app.engine.constant_effects import BothLimits, Reach, constant_notes
from compaction_app.engine.guarded_calls import GuardedCalls, guarded_calls, loop_sizes
from compaction_app.engine.policy_config import result_limits
from compaction_app.engine.pruning.experimental_settings import changed_constants
from compaction_app.engine.pruning.guard import guard_limits, guard_window
from compaction_app.engine.pruning.tried_cuts import (
    CUTS,
    CutLimits,
    TriedCut,
    TriedRule,
    cut_limits,
    tried_rule,
)
from compaction_app.engine.replay import Replay
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.stripped import stripped_rows
from compaction_app.forms import Query, base_rules
from compaction_app.runs import Situation, replay_for, timeline_for
from sessions_app.rows import messages_of
from sessions_app.tokens.text_weight import MOST_WEIGHT
from sessions_app.transcripts.columns import TOOL_RESULT, Ints
from sessions_app.transcripts.timeline import Timeline

MOST_RESULTS: Final = 50
MOST_CHARS: Final = 4_000_000
"""So many characters of results are read at most: a page must not read a whole transcript."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A query's rule set beside the version's own, each with its limits for the query's window."""

    own: tuple[RuleSet, CutLimits]
    tried: tuple[RuleSet, CutLimits]
    guarded_tokens: float


@dataclass(frozen=True, slots=True)
class Sums:
    """A rule's results together, in characters."""

    chars: int
    own: int
    tried: int


@dataclass(frozen=True, slots=True)
class CutRow:
    cut: TriedCut
    tool: str


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule as the page shows it; ``in_recovery``: recovery cuts the same to the same."""

    rule: TriedRule
    rows: tuple[CutRow, ...]
    sums: Sums
    differing: int
    in_recovery: bool = False

    @property
    def same_limit(self) -> bool:
        return self.rule.own_limit == self.rule.tried_limit


@dataclass(frozen=True, slots=True)
class TriedView:
    """``both_calls`` are by the version's constants and by the tried ones; ``looked_at`` of ``results`` tool results were read, the largest first."""

    rules: tuple[RuleView, ...]
    both_calls: tuple[GuardedCalls, ...]
    too_large: str
    calls: int
    results: int
    looked_at: int


def bench_of(query: Query, done: Replay) -> Bench:
    own = RULE_SETS.get(base_rules(query.around), query.around.rules)
    window, config = done.lines.window, result_limits(query.policy)
    guarded = guard_window(window, window, query.policy.max_tokens, own.pruning.guard)
    both = [
        (rules, cut_limits(window, guarded, config, rules)) for rules in (own, query.around.rules)
    ]
    return Bench(both[0], both[1], guarded)


def tried_view(situation: Situation, query: Query, done: Replay) -> TriedView | None:
    """None while every constant is the version's own, without a window, and on a path that runs no guard."""
    is_idle = not changed_constants(query.around.constants) or query.around.path == "cli"
    if is_idle or not done.lines.window:
        return None
    grown, bench = timeline_for(situation, query.leaf), bench_of(query, done)
    places = result_places(grown)
    chosen = largest_places(grown, places)
    tools = {
        int(grown.branch[place]): grown.columns.tool_names[grown.columns.tool[place]]
        for place in chosen.tolist()
    }
    results = list(messages_of(situation.window, tools))
    rules = [tried_rule(name, results, bench.own, bench.tried) for name in CUTS]
    return TriedView(
        rules=_rule_views(rules, tools),
        both_calls=_calls(grown, done, bench),
        too_large=bench.own[0].pruning.guard.too_large,
        calls=done.totals.calls,
        results=len(places),
        looked_at=len(results),
    )


def guard_rows(situation: Situation, query: Query, now: Replay, done: Replay) -> list[Difference]:
    """Rows for the difference table while a constant of the guard is tried; no text is read."""
    constants = query.around.constants
    tried = (constants.single_share, constants.headroom_share, constants.image_chars)
    if query.around.path == "cli" or all(value is None for value in tried):
        return []
    grown = timeline_for(situation, query.leaf)
    own = Query(situation.policy, situation.around, None, query.leaf, {})
    before, _ = _calls(grown, now, bench_of(own, now))
    _, after = _calls(grown, done, bench_of(query, done))
    return guard_differences(before, after)


def notes_on_constants(situation: Situation, query: Query) -> dict[str, str]:
    """Why a constant does nothing here, by key; no text is read."""
    grown = timeline_for(situation, query.leaf)
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    bench, rows, places = bench_of(query, done), grown.columns, result_places(grown)
    own_calls, tried_calls = _calls(grown, done, bench)
    tried = bench.tried[0].pruning
    widest = MOST_WEIGHT if tried.truncation.weighted else 1
    chars = rows.result_chars[places] * widest
    weighed = loop_sizes(rows, tried.guard)[places] * widest
    reach = Reach(
        images=int(rows.images.sum()),
        result_chars=int(chars.max(initial=0)),
        call_chars=int(weighed.max(initial=0)),
        context_chars=max(own_calls.largest, tried_calls.largest),
    )
    least = min(own_calls.limits.total_chars, tried_calls.limits.total_chars)
    limits = BothLimits(bench.own[1], bench.tried[1], least)
    return constant_notes(query.policy, query.around, reach, limits)


def result_places(grown: Timeline) -> Ints:
    """Rows of tool results that a what-if keeps."""
    rows = grown.columns
    return np.flatnonzero((rows.kind == TOOL_RESULT) & ~stripped_rows(rows))


def largest_places(grown: Timeline, places: Ints) -> Ints:
    """The largest results, as many as may be read at once; one is always among them."""
    chars = grown.columns.result_chars[places]
    order = np.argsort(-chars, kind="stable")[:MOST_RESULTS]
    within = np.cumsum(chars[order]) <= MOST_CHARS
    within[:1] = True
    return np.asarray(places[order[within]], np.int64)


def _calls(grown: Timeline, done: Replay, bench: Bench) -> tuple[GuardedCalls, ...]:
    guards = [rules.pruning.guard for rules, _ in (bench.own, bench.tried)]
    return tuple(
        guarded_calls(grown, done, guard_limits(bench.guarded_tokens, guard), guard)
        for guard in guards
    )


def _rule_views(rules: Sequence[TriedRule], tools: Mapping[int, str]) -> tuple[RuleView, ...]:
    stored, called, recovered = (_rule_view(rule, tools) for rule in rules)
    if replace(recovered.rule, name=stored.rule.name) == stored.rule:
        return replace(stored, in_recovery=True), called
    return stored, called, recovered


def _rule_view(rule: TriedRule, tools: Mapping[int, str]) -> RuleView:
    cuts = sorted(rule.cuts, key=lambda cut: -cut.size)
    return RuleView(
        rule=rule,
        rows=tuple(CutRow(cut, tools.get(cut.entry, "")) for cut in cuts),
        sums=Sums(
            chars=sum(cut.chars for cut in cuts),
            own=sum(cut.own.total for cut in cuts),
            tried=sum(cut.tried.total for cut in cuts),
        ),
        differing=sum(cut.differs for cut in cuts),
    )
