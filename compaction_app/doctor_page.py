"""The doctor's page: what its templates show of a report. No arithmetic in views."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.differences import Difference, differences
from compaction_app.engine.config.patch import CannotPatch, patched
from compaction_app.engine.diagnose import Subject
from compaction_app.engine.doctor.corrections import Correction, edits_of
from compaction_app.engine.doctor.effective import SOURCE_TITLES, Effective
from compaction_app.engine.doctor.examination import settings_of, subject_of
from compaction_app.engine.doctor.outcomes import Outcome
from compaction_app.engine.doctor.report import AgentReport, Configuration, agents_of
from compaction_app.engine.lines import Line
from compaction_app.engine.reasons import sentence
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.drawing.ladder import Ladder, Rung, ladder

DIFF_CONTEXT: Final = 2
MOST_AGENTS: Final = 50


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A row of the settings; ``group`` is empty when it is that of the row before."""

    each: Effective
    group: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class OtherAgent:
    """Another agent of the same file, with what it has for itself."""

    name: str
    model: str
    window: int
    flush_line: int
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """``kind`` is "gone", "came", "same" or "gap"."""

    kind: str
    text: str


def report_context(
    report: AgentReport, config: Configuration, rules: RuleSet, chosen: Collection[str] | None
) -> dict[str, Any]:
    """``chosen`` are the keys of the changes to make, none for all of them."""
    seen = report.examination
    lines = seen.subject.lines
    changes = report.corrected.changes
    making = [change for change in changes if chosen is None or change.key in chosen]
    text, fault = corrected_text(config, making)
    return {
        "report": report,
        "seen": seen,
        "around": seen.subject.around,
        "findings": report.findings,
        "ladder": ladder_of(seen.subject, _level(report)),
        "lines": [(line, sentence(line.reason)) for line in lines.lines if line.name != "window"],
        "settings": list(shown_settings(report.settings)),
        "own_settings": list(
            shown_settings([s for s in report.settings if s.source != "default" or s.note])
        ),
        "set_count": sum(each.source != "default" for each in report.settings),
        "others": other_agents(config, report.agent, rules),
        "changes": [(change, change in making) for change in changes],
        "making": making,
        "corrected_text": text,
        "patch_fault": fault,
        "diff": diff_lines(config.text, text) if text else [],
        "worst_title": report.cases[0].title if report.cases else "",
    }


def corrected_text(config: Configuration, making: Sequence[Correction]) -> tuple[str, str]:
    """The file with these changes, or why it cannot be written; both "" without changes."""
    if not making:
        return "", ""
    try:
        return patched(config.text, edits_of(making)), ""
    except CannotPatch as error:
        return "", f"The file cannot be patched in place: {error}."


def ladder_of(subject: Subject, level: int | None = None) -> Ladder:
    """The lines of a subject, by unit; the flush and preflight lines are one where they agree."""
    lines = subject.lines
    flush, preflight = lines.named("flush"), lines.named("preflight")
    gates = [_rung(flush)]
    if preflight.tokens != flush.tokens or preflight.active != flush.active:
        gates.append(_rung(preflight))
    else:
        gates = [_rung(flush, "flush and preflight line")]
    units: list[tuple[str, Sequence[Rung]]] = [
        ("billed prompt tokens", gates),
        ("billed total tokens", [_rung(lines.named("inner_threshold"))]),
        ("estimated tokens × 1.2", [_rung(lines.named("pre_prompt"))]),
    ]
    return ladder(lines.window, units, level)


def _level(report: AgentReport) -> int | None:
    """How full the worst session got."""
    grown = report.cases[0].subject.grown if report.cases else None
    return grown.peak if grown is not None else None


def _rung(line: Line, title: str = "") -> Rung:
    words = sentence(line.reason)
    help = f"{line.title}: {line.tokens:,} {line.unit}; {words}"
    return Rung(line.name, title or line.title, line.tokens, not line.active, help)


def shown_settings(settings: Sequence[Effective]) -> Iterator[ShownSetting]:
    """All settings by group."""
    last = ""
    for each in sorted(settings, key=_group_order(settings)):
        group = each.setting.group
        yield ShownSetting(
            each, "" if group == last else group, value_text(each.value), SOURCE_TITLES[each.source]
        )
        last = group


def _group_order(settings: Sequence[Effective]) -> Any:
    order = list(dict.fromkeys(each.setting.group for each in settings))
    return lambda each: order.index(each.setting.group)


def value_text(value: Any) -> str:
    """A value of a setting as people read it."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, int | float):
        return f"{value:,}"
    return str(value) or "empty"


def other_agents(config: Configuration, agent: str, rules: RuleSet) -> list[OtherAgent]:
    """The other agents that the file lists."""
    found = []
    for name in agents_of(config.values)[:MOST_AGENTS]:
        if name == agent:
            continue
        subject, _ = subject_of(config.values, name, rules)
        around, lines = subject.around, subject.lines
        model = f"{around.provider or '?'}/{around.model or '?'}"
        own = tuple(
            f"{each.setting.key} {value_text(each.value)}"
            for each in settings_of(subject, config.values, name)
            if each.source == "agent"
        )
        found.append(OtherAgent(name, model, lines.window, lines.named("flush").tokens, own))
    return found


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """What a patch changes, line by line, with a little of what stands around it."""
    shown = []
    kinds = {"+": "came", "-": "gone", " ": "same"}
    unified = difflib.unified_diff(
        before.splitlines(), after.splitlines(), n=DIFF_CONTEXT, lineterm=""
    )
    for line in list(unified)[2:]:
        if line.startswith("@@"):
            shown.append(DiffLine("gap", "…"))
        else:
            shown.append(DiffLine(kinds.get(line[:1], "same"), line[1:]))
    return shown


def outcome_rows(found: Sequence[Outcome]) -> list[tuple[str, str, list[Difference]]]:
    """For each change, and for all together: its words, its code, and what it does to the sessions."""
    return [
        (
            each.correction.words if each.correction else "all of these changes together",
            each.correction.code if each.correction else "",
            differences(each.before, each.before, each.after),
        )
        for each in found
    ]
