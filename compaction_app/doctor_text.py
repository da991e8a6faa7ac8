"""The doctor's report for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compaction_app.doctor_folder import ExaminedAgent, ExaminedFolder
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.doctor.effective import SOURCE_TITLES
from compaction_app.engine.doctor.report import AgentReport
from compaction_app.engine.reasons import sentence

STYLES: Final = {"grave": "bold red", "warn": "yellow", "info": "cyan"}
MARKS: Final = {
    "ok": ("ok", "green"),
    "bad": ("look here", "yellow"),
    "unknown": ("unknown", "dim"),
}


def print_report(console: Console, examined: ExaminedFolder) -> None:
    """Agent by agent; what belongs to no session comes last."""
    told: set[Path | None] = set()
    for each in examined.agents:
        if each.config_path in told and not each.report.rows:
            _brief(console, each)
        else:
            _agent(console, each)
        told.add(each.config_path)
    if examined.findings:
        _head(console, "Files")
        _findings(console, examined.findings)
    sessions = f"{examined.sessions:,} session{'' if examined.sessions == 1 else 's'}"
    agents = f"{len(examined.agents)} agent{'' if len(examined.agents) == 1 else 's'}"
    console.print(Text(f"\n{sessions} of {agents} examined. Nothing was changed.", style="bold"))


def _brief(console: Console, each: ExaminedAgent) -> None:
    """An agent without sessions: what it has for itself."""
    report = each.report
    around = report.examination.subject.around
    title = Text.assemble(("\nAgent ", "bold"), (report.agent, "bold"))
    title.append(f"  {around.provider or '?'}/{around.model or '?'} · no sessions here", "dim")
    console.print(title)
    own = [
        (s.setting.key, _figure(s.value), s.place) for s in report.settings if s.source == "agent"
    ]
    if own:
        _table(console, own)
    else:
        _line(console, "No settings of its own.")


def _agent(console: Console, each: ExaminedAgent) -> None:
    report = each.report
    seen = report.examination
    around = seen.subject.around
    title = Text.assemble(("\nAgent ", "bold"), (report.agent, "bold"))
    title.append(
        f"  {around.provider or '?'}/{around.model or '?'} · rules {around.rules.id}", "dim"
    )
    title.append(f" · {each.config_path or 'no openclaw.json'}", "dim")
    console.print(title)
    _head(console, "Findings")
    _findings(console, report.findings)
    for tally in report.tallies:
        console.print(
            _finding(tally.finding, f"in {tally.sessions:,} of {len(report.rows):,} sessions")
        )
    if report.notice:
        _line(console, report.notice)
    _head(console, "Does the flush come before the compaction?")
    _line(console, f"{seen.timing.answer.capitalize()}. {seen.timing.words}")
    if report.measured is not None:
        measured = report.measured
        _line(console, f"In {report.checked}: {measured.answer}. {measured.words}")
    _head(console, "Windows")
    _table(console, ((c.title, _figure(c.resolution.tokens), c.why) for c in seen.chains))
    _head(console, "Lines")
    _table(
        console,
        (
            (x.title, x.at, x.unit if x.active else f"off: {sentence(x.reason)}")
            for x in seen.subject.lines.lines
        ),
    )
    _line(console, f"Small-window protection. {seen.protection.words}")
    _line(console, f"Pruning. {seen.pruning.words}")
    _settings(console, report)
    _checks(console, report)
    _rule_sets(console, report)
    _corrected(console, each)


def _settings(console: Console, report: AgentReport) -> None:
    _head(console, "Settings that are not the rule set's default")
    rows = [
        (
            s.setting.key,
            _figure(s.value),
            f"{SOURCE_TITLES[s.source]}: {s.place}" + f"  {s.note}" * bool(s.note),
        )
        for s in report.settings
        if s.source != "default" or s.note
    ]
    _table(console, rows)


def _checks(console: Console, report: AgentReport) -> None:
    for check in report.checks:
        _head(console, check.question + (f"  ({report.checked})" if report.checked else ""))
        for step in check.steps:
            mark, style = MARKS[step.state]
            console.print(
                Padding(
                    Text.assemble((f"{mark:<10}", style), f"{step.title}: {step.found}"), (0, 2)
                )
            )
        if check.finding is not None:
            console.print(_finding(check.finding))
        else:
            _line(console, check.words)


def _rule_sets(console: Console, report: AgentReport) -> None:
    differences = report.comparison.differences
    _head(console, "Under other rule sets")
    if not differences:
        _line(console, "Nothing differs between the rule sets.")
        return
    for row in differences:
        _line(console, row.title)
        names = (f"    {name}" for name in report.comparison.rule_sets)
        _table(console, zip(names, row.values, strict=True))
        _line(console, f"    {row.why}", "dim")


def _corrected(console: Console, each: ExaminedAgent) -> None:
    corrected = each.report.corrected
    if not corrected.changes:
        return
    _head(console, "Changes that would mend it (--write FILE writes the corrected file)")
    by_key = {o.correction.key: o for o in each.outcomes if o.correction}
    for change in corrected.changes:
        effect = by_key.get(change.key)
        _line(console, f"{change.words}  [{change.code}]")
        if effect is not None:
            _line(console, f"  {_effect(effect)}", "dim")
    together = next((o for o in each.outcomes if o.correction is None), None)
    if together is not None:
        _line(
            console,
            f"All together, {len(each.report.cases)} worst sessions replayed: {_effect(together)}",
        )
    if corrected.fault:
        _line(console, corrected.fault)


def _effect(outcome: Any) -> str:
    before, after = outcome.before, outcome.after
    return "; ".join(
        f"{title} {getattr(before, name):,} → {getattr(after, name):,}"
        for title, name in (
            ("flushes", "flushes"),
            ("compactions", "compactions"),
            ("blocked turns", "blocked"),
            ("tokens sent", "tokens_sent"),
        )
    )


def _findings(console: Console, found: Iterable[Finding]) -> None:
    listed = list(found)
    for finding in listed:
        console.print(_finding(finding))
    if not listed:
        _line(console, "None.")


def _finding(finding: Finding, aside: str = "") -> Padding:
    style = STYLES[finding.severity]
    text = Text.assemble((f"{finding.severity:<6}", style), (finding.code, style))
    text.append(f"  {aside}" if aside else "", style="dim")
    text.append(f"\n{finding.consequence}")
    return Padding(text, (0, 2))


def _head(console: Console, title: str) -> None:
    console.print(Text(f"\n{title}", style="bold"))


def _line(console: Console, words: str, style: str = "") -> None:
    console.print(Padding(Text(words, style=style), (0, 2)))


def _table(console: Console, rows: Iterable[tuple[str, ...]]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(Padding(table, (0, 2)))


def _figure(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:,}" if isinstance(value, int | float) else str(value) or "empty"
