"""The doctor on files as they lie: a state folder, a configuration, transcripts. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compaction_app.diagnosis import (
    Judged,
    Progress,
    Settings,
    judge,
    settled,
    workspace_findings,
)
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import Finding, by_consequence
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.doctor.ledger import Case, Ledger
from compaction_app.engine.doctor.outcomes import Outcome
from compaction_app.engine.doctor.report import (
    AgentReport,
    Configuration,
    agent_report,
    agents_of,
    outcomes_of,
)
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.session_policy import system_tokens
from compaction_app.file_groups import Group, groups_of


@dataclass(frozen=True, slots=True)
class ExaminedAgent:
    """An agent's report, the file it is configured by, and what each change would do."""

    config_path: Path | None
    rules: RuleSet
    report: AgentReport
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class ExaminedFolder:
    """``findings`` are those on files and indexes, which belong to no session."""

    agents: tuple[ExaminedAgent, ...]
    findings: tuple[Finding, ...]
    sessions: int


def files_to_read(groups: Iterable[Group]) -> list[Path]:
    """The transcripts and stores that an examination will read."""
    return [path for group in groups for path in (*group.stores, *group.transcripts)]


def examine_files(
    groups: Iterable[Group],
    config: Path | None = None,
    rules: RuleSet | None = None,
    progress: Progress = lambda path: None,
) -> ExaminedFolder:
    """Judge everything, agent by agent; of the sessions only rows and the worst few are kept."""
    ledgers: dict[tuple[Path | None, str], Ledger] = {}
    known: dict[Path | None, Settings] = {}
    loose: list[Finding] = []
    for group, settings, is_new in settled(groups, config, rules):
        known[settings.path] = settings
        if is_new:
            loose += workspace_findings(settings)
            for agent in agents_of(settings.values) if settings.path else ():
                ledgers.setdefault((settings.path, agent), Ledger())
        for each in judge(group, settings, progress):
            if isinstance(each, Finding):
                loose.append(each)
            elif each.path is not None or each.identity:
                agent = each.agent or agents_of(settings.values)[0]
                ledger = ledgers.setdefault((settings.path, agent), Ledger())
                ledger.add(_case(each), each.findings)
    agents = tuple(
        _examined(known[path], agent, ledger) for (path, agent), ledger in ledgers.items()
    )
    sessions = sum(len(ledger.rows) for ledger in ledgers.values())
    return ExaminedFolder(agents, tuple(by_consequence(loose)), sessions)


def examine_paths(
    paths: Iterable[Path], config: Path | None = None, rules: RuleSet | None = None
) -> ExaminedFolder:
    """The same for paths.

    Raises:
        CannotDiagnose: for a path with nothing to judge.
    """
    return examine_files(groups_of(paths), config, rules)


def _examined(settings: Settings, agent: str, ledger: Ledger) -> ExaminedAgent:
    config = Configuration(settings.text, settings.values, settings.findings)
    report = agent_report(config, agent, settings.rules, ledger)
    changes = tuple(outcomes_of(config, report, settings.rules))
    return ExaminedAgent(settings.path, settings.rules, report, changes)


def _case(each: Judged) -> Case:
    title = each.path.name if each.path else each.identity
    return Case(each.identity, title, each.subject, partial(_replayed, each.subject))


def _replayed(subject: Subject, policy: Policy, around: Circumstances) -> Replay:
    assert subject.grown is not None
    return replay(subject.grown, policy, around, system_tokens(subject.entry or {}))
