"""Up to four policies on one session, their curves in one chart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.comparison_query import MOST_POLICIES, joined_query, split_query
from compaction_app.differences import RESENT_HELP
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.reasons import sentence
from compaction_app.engine.replay import Replay, Totals
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import Query, base_rules, query_of, read_query
from compaction_app.recorded import (  # fmt: skip
    Happening,
    recorded_happenings,
    recorded_totals,
    simulated_happenings,
)
from compaction_app.runs import Situation, replay_for, situation_of, timeline_for
from sessions_app.drawing.growth import Curve, Mark, Rule, growth_chart
from sessions_app.models import Session
from sessions_app.transcripts.timeline import Timeline

FIELDS: Final = (
    ("contextWindow", "context_window"),
    ("compaction.reserveTokensFloor", "reserve_tokens_floor"),
    ("compaction.memoryFlush.softThresholdTokens", "soft_threshold_tokens"),
    ("compaction.keepRecentTokens", "keep_recent_tokens"),
)
"""What the page's form offers of a policy; an address can hold every setting."""

ROWS: Final = (
    ("memory flushes", "flushes", "Flush turns", "more"),
    ("compactions", "compactions", "Compactions of every kind", "fewer"),
    ("flushed before", "flushed_before", "Compactions with a memory flush before them", ""),
    ("turns blocked", "blocked", "Turns that end in the overflow reply", "fewer"),
    ("tokens sent", "tokens_sent", "Prompt tokens of all calls of the conversation", "fewer"),
    ("tokens re-sent", "tokens_resent", RESENT_HELP, "fewer"),
    ("peak", "peak", "Largest prompt with its answer, in tokens", "fewer"),
)


@dataclass(frozen=True, slots=True)
class Field:
    """A setting in the form: ``value`` as it was given, ``holds`` what holds where nothing was."""

    label: str
    name: str
    value: str
    holds: Any = "own"


@dataclass(frozen=True, slots=True)
class Contender:
    """One policy of a comparison. ``number`` counts from 1; ``address`` is its session page's query,
    ``given`` what this page was asked, ``what`` says in a few words what is different about it."""

    number: int
    query: Query
    replay: Replay
    address: str
    given: Mapping[str, str]
    what: str

    @property
    def css(self) -> str:
        return f"p{self.number}"

    @property
    def prefix(self) -> str:
        """What its fields' names begin with in the address."""
        return f"{self.number}."

    @property
    def title(self) -> str:
        return f"{self.number}: {self.what}"

    @property
    def rules(self) -> str:
        return base_rules(self.query.around)

    @property
    def fields(self) -> list[Field]:
        return [
            Field(
                label_of(key),
                f"{self.prefix}{key}",
                self.given.get(key, ""),
                getattr(self.query.policy, name),
            )
            for key, name in FIELDS
        ]

    @property
    def line(self) -> int | None:
        """Where its flush line lies, none while no flush can run."""
        found = self.replay.lines.named("flush")
        return found.tokens if found.active else None


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of all: recorded (none: unknown), then one of each policy; the best ones are marked."""

    title: str
    help: str
    recorded: int | None
    values: tuple[tuple[int, bool], ...]


def comparison_context(session: Session, values: Mapping[str, str]) -> dict[str, Any]:
    """One session under up to four policies; without any the first is its own."""
    situation = situation_of(session)
    asked = split_query(values) or [{}]
    contenders = [_contender(situation, n, given) for n, given in enumerate(asked, 1)]
    grown = timeline_for(situation)
    recorded = recorded_totals(grown)
    chart = growth_chart(
        _curves(grown, contenders), _rules(contenders), _marks(grown, contenders), _span(values)
    )
    return {
        "contenders": contenders,
        "chart": chart,
        "readout": json.dumps(chart.readout, separators=(",", ":")),
        "rows": [_row(row, recorded, [c.replay.totals for c in contenders]) for row in ROWS],
        "presets": PRESETS,
        "rule_sets": RULE_SETS,
        "problems": [m for c in contenders for m in c.query.problems.values()],
        "more": joined_query([*asked, {}]) if len(asked) < MOST_POLICIES else "",
        "fewer": joined_query(asked[:-1]) if len(asked) > 1 else "",
        "calls": grown.calls,
        "whole_query": joined_query(asked),
    }


def _span(values: Mapping[str, str]) -> tuple[int, int] | None:
    ends = [values.get(name, "") for name in ("from", "to")]
    if not all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends):
        return None
    return int(ends[0]), int(ends[1])


def _contender(situation: Situation, number: int, given: Mapping[str, str]) -> Contender:
    query = read_query(given, situation)
    done = replay_for(situation, query.policy, query.around, None, query.summary)
    what = _what(situation, query, given)
    return Contender(number, query, done, query_of(query, situation), given, what)


def _what(situation: Situation, query: Query, given: Mapping[str, str]) -> str:
    named = next((one.title for one in PRESETS if one.name == given.get("preset")), "")
    changed = query.policy.changes(situation.policy)
    parts = [named] if named else [f"{label_of(key)} {_figure(v)}" for key, v in changed.items()]
    if base_rules(query.around) != base_rules(situation.around):
        parts.append(base_rules(query.around).removeprefix("openclaw-"))
    more = f" and {len(parts) - 2} more" if len(parts) > 2 else ""
    return ", ".join(parts[:2]) + more or "own settings"


def label_of(key: str) -> str:
    return key.rsplit(".", 1)[-1]


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _row(row: tuple[str, str, str, str], recorded: Totals, totals: Sequence[Totals]) -> Row:
    title, name, help, better = row
    figures = [int(getattr(one, name) or 0) for one in totals]
    best = None
    if better and len(set(figures)) > 1:
        best = max(figures) if better == "more" else min(figures)
    values = tuple((figure, figure == best) for figure in figures)
    return Row(title, help, getattr(recorded, name), values)


def _curves(grown: Timeline, contenders: Sequence[Contender]) -> list[Curve]:
    curves = [Curve("billed", "recorded", grown.shown)]
    return curves + [Curve(c.css, c.title, c.replay.total, bridged=True) for c in contenders]


def _rules(contenders: Sequence[Contender]) -> list[Rule]:
    """The windows and flush lines, each once: several policies may share one."""
    rules: dict[int, Rule] = {}
    for contender in contenders:
        window = contender.replay.lines.window
        rules.setdefault(window, Rule("window", "window", window))
    for line in dict.fromkeys(c.line for c in contenders if c.line):
        sharing = [c for c in contenders if c.line == line]
        numbers = ", ".join(str(c.number) for c in sharing)
        rules[line] = Rule(f"flush {sharing[0].css}", f"flush line of {numbers}", line)
    return list(rules.values())


def _marks(grown: Timeline, contenders: Sequence[Contender]) -> list[Mark]:
    marks = [_mark(h, "recorded", "recorded") for h in recorded_happenings(grown)]
    for contender in contenders:
        happened = simulated_happenings(grown, contender.replay)
        shown = (h for h in happened if h.kind not in ("guard", "truncate"))
        marks += [_mark(h, f"simulated {contender.css}", contender.title) for h in shown]
    return marks


def _mark(happening: Happening, kind: str, whose: str) -> Mark:
    title = f"call {happening.call}: {happening.title}, {whose}: {sentence(happening.reason)}"
    return Mark(
        f"{kind} {happening.kind}",
        happening.kind,
        title,
        happening.call,
        happening.value,
        "#figures",
    )
