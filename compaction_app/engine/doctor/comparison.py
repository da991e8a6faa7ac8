"""The same settings, and the same session, under every rule set, with the differences explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.config.references import without_includes
from compaction_app.engine.config.validate import validate_config
from compaction_app.engine.diagnose import Subject
from compaction_app.engine.doctor.compared_rows import ROWS, Explain, Show, Side
from compaction_app.engine.lines import Line, LineName, lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.reasons import sentence
from compaction_app.engine.replay import Totals
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.session_policy import under_rules

_LINES: Final[tuple[LineName, ...]] = ("flush", "preflight", "pre_prompt", "inner_threshold")


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One thing under every rule set; ``why`` explains a difference, "" where there is none."""

    title: str
    values: tuple[str, ...]
    why: str = ""

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """``rule_sets`` are the columns, oldest first."""

    rule_sets: tuple[str, ...]
    rows: tuple[ComparedRow, ...]

    @property
    def differences(self) -> tuple[ComparedRow, ...]:
        return tuple(row for row in self.rows if row.differs)


def compare_rule_sets(
    policy: Policy,
    around: Circumstances,
    config: Mapping[str, Any],
    totals: Mapping[str, Totals] | None = None,
) -> Comparison:
    """``config`` is the file as it is; ``totals`` a session's replay by rule set, none without one."""
    sides = [
        _side(under_rules(policy, around, rules), replace(around, rules=rules), config)
        for rules in RULE_SETS.values()
    ]
    rows = [_row(title, sides, show, why) for title, show, why in ROWS]
    rows += [_line_row(name, sides) for name in _LINES]
    if totals:
        rows += [_total_row(title, name, totals) for title, name in _TOTALS]
    return Comparison(tuple(RULE_SETS), tuple(rows))


def _side(policy: Policy, around: Circumstances, config: Mapping[str, Any]) -> Side:
    issues = validate_config(without_includes(config), around.rules.config)
    problems = tuple(f"{issue.path or 'openclaw.json'}: {issue.message}" for issue in issues)
    return Side(around.rules, Subject(policy, around, lines_of(policy, around)), problems)


def _row(title: str, sides: Sequence[Side], show: Show, why: Explain) -> ComparedRow:
    values = tuple(show(side) for side in sides)
    return ComparedRow(title, values, why(sides) if len(set(values)) > 1 else "")


def _line_row(name: LineName, sides: Sequence[Side]) -> ComparedRow:
    lines = [side.subject.lines.named(name) for side in sides]

    def show(line: Line) -> str:
        if not line.active:
            return f"off: {sentence(line.reason)}"
        return f"{line.at} {line.unit}" if line.tokens > 0 else f"{line.at} ({line.unit})"

    values = tuple(show(line) for line in lines)
    why = ""
    if len(set(values)) > 1:
        off = [
            f"{s.name}: {sentence(x.reason)}"
            for s, x in zip(sides, lines, strict=True)
            if not x.active
        ]
        moved = len({line.tokens for line in lines}) > 1
        parts = ["it follows the window and the reserve above"] * moved + off
        why = "; ".join(parts) or "its settings are read differently"
    return ComparedRow(lines[-1].title, values, why)


def _total_row(title: str, name: str, totals: Mapping[str, Totals]) -> ComparedRow:
    values = tuple(
        "off" if (value := getattr(totals[rules], name)) is None else f"{value:,}"
        for rules in RULE_SETS
    )
    why = "the session replayed; it follows from the lines and mechanisms above"
    return ComparedRow(f"this session: {title}", values, why if len(set(values)) > 1 else "")


_TOTALS: Final = (
    ("memory flushes", "flushes"),
    ("compactions", "compactions"),
    ("of them flushed before", "flushed_before"),
    ("turns blocked", "blocked"),
    ("tokens sent", "tokens_sent"),
    ("tokens re-sent after a cache break", "tokens_resent"),
    ("peak, tokens", "peak"),
    ("calls pruned", "pruned"),
)
