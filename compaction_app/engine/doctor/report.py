"""The doctor's report on one agent: its settings explained, its sessions judged, its file corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.config.patch import CannotPatch, patched
from compaction_app.engine.config_value import value_at
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.diagnose.configuration import read_config
from compaction_app.engine.doctor.checks import Check
from compaction_app.engine.doctor.comparison import Comparison, compare_rule_sets
from compaction_app.engine.doctor.corrections import Correction, corrections, edits_of
from compaction_app.engine.doctor.effective import Effective
from compaction_app.engine.doctor.examination import (
    Examination,
    examine,
    settings_of,
    subject_of,
)
from compaction_app.engine.doctor.ledger import Case, Ledger, SessionRow, Tally
from compaction_app.engine.doctor.outcomes import Outcome, outcomes, remaining
from compaction_app.engine.doctor.timing import Timing
from compaction_app.engine.replay import Totals
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.session_policy import under_rules

DEFAULT_AGENT = "main"
UNREAD = "Nothing of this file could be read: everything below holds for a file that sets nothing."


@dataclass(frozen=True, slots=True)
class Configuration:
    """An ``openclaw.json`` as it was read; ``text`` is "" where there is none."""

    text: str
    values: Mapping[str, Any]
    findings: tuple[Finding, ...]

    @property
    def is_given(self) -> bool:
        return bool(self.text)

    @property
    def is_unread(self) -> bool:
        """Whether nothing of a given file could be read."""
        return self.is_given and not self.values and bool(self.findings)


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected file. ``text`` is "" when there is nothing to change, or ``fault`` says why not.

    ``left`` are the findings that remain on the settings when all changes are made.
    """

    changes: tuple[Correction, ...]
    text: str
    fault: str
    left: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class AgentReport:
    """Everything about one agent. Checks and ``measured`` are of the worst session, where there is one:
    what its billed calls say about the flush. ``notice`` says what the report is not about, "" for nothing.
    """

    agent: str
    examination: Examination
    settings: tuple[Effective, ...]
    findings: tuple[Finding, ...]
    tallies: tuple[Tally, ...]
    rows: tuple[SessionRow, ...]
    cases: tuple[Case, ...]
    measured: Timing | None
    checks: tuple[Check, ...]
    checked: str
    comparison: Comparison
    corrected: Corrected
    notice: str = ""


def read_configuration(text: str, rules: RuleSet) -> Configuration:
    """Never raises; an unreadable file is an empty one with a finding."""
    if not text.strip():
        return Configuration("", {}, ())
    read = read_config(text, rules.config)
    return Configuration(text, read.config, read.findings)


def agents_of(config: Mapping[str, Any]) -> list[str]:
    """The ids of the agents that a configuration lists, the default one first."""
    listed = value_at(config, "agents", "list")
    entries = (
        [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    )
    named = [each for each in entries if isinstance(each.get("id"), str) and each["id"].strip()]
    named.sort(key=lambda each: each.get("default") is not True)
    return list(dict.fromkeys(each["id"].strip() for each in named)) or [DEFAULT_AGENT]


def agent_report(
    config: Configuration, agent: str, rules: RuleSet, ledger: Ledger | None = None
) -> AgentReport:
    """``ledger`` holds the agent's sessions, as far as there are any.

    A configuration that names no model is explained for that of the worst session.
    """
    ledger = ledger or Ledger()
    cases = ledger.cases
    subject, refused = subject_of(config.values, agent, rules)
    if cases and not subject.around.model:
        around = cases[0].subject.around
        subject, refused = subject_of(config.values, agent, rules, around.provider, around.model)
    subject = replace(subject, has_config=config.is_given)
    seen = examine(subject)
    worst = examine(cases[0].subject) if cases else seen
    faults = config.findings or refused
    return AgentReport(
        agent=agent,
        examination=seen,
        settings=settings_of(subject, config.values, agent),
        findings=(*faults, *seen.findings),
        tallies=tuple(ledger.tallies),
        rows=tuple(ledger.rows),
        cases=tuple(cases),
        measured=worst.timing if cases else None,
        checks=worst.checks,
        checked=cases[0].title if cases else "",
        comparison=compare_rule_sets(
            subject.policy, subject.around, config.values, _under_all(cases[0]) if cases else None
        ),
        corrected=_corrected(config, agent, rules, seen, cases),
        notice=UNREAD if config.is_unread else "",
    )


def outcomes_of(
    config: Configuration,
    report: AgentReport,
    rules: RuleSet,
    changes: Sequence[Correction] | None = None,
) -> list[Outcome]:
    """What changes (all that are proposed, if not told which) do to the sessions at hand."""
    making = report.corrected.changes if changes is None else changes
    return outcomes(config.values, report.agent, rules, report.cases, making)


def _corrected(
    config: Configuration, agent: str, rules: RuleSet, seen: Examination, cases: list[Case]
) -> Corrected:
    if not config.is_given or not config.values:
        return Corrected((), "", "", ())
    subjects = [seen.subject, *(case.subject for case in cases)]
    changes = tuple(corrections(config.values, subjects, rules))
    left = tuple(remaining(config.values, agent, rules, seen.subject, changes))
    if not changes:
        return Corrected((), "", "", left)
    try:
        return Corrected(changes, patched(config.text, edits_of(changes)), "", left)
    except CannotPatch as error:
        return Corrected(changes, "", f"The file cannot be patched in place: {error}.", left)


def _under_all(case: Case) -> dict[str, Totals]:
    """The totals of a session's replay under every rule set."""
    subject = case.subject
    return {
        name: case.replayed(
            under_rules(subject.policy, subject.around, rules), replace(subject.around, rules=rules)
        ).totals
        for name, rules in RULE_SETS.items()
    }
