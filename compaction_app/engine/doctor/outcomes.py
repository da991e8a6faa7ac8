"""What would each change of the file do to the sessions at hand? They are replayed with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from compaction_app.engine.config.edits import Edit, applied
from compaction_app.engine.diagnose import Finding, Subject, by_consequence, findings
from compaction_app.engine.doctor.corrections import Correction
from compaction_app.engine.doctor.ledger import Case
from compaction_app.engine.lines import lines_of
from compaction_app.engine.replay import Totals
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.session_policy import SessionPolicy, session_policy


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change alone, or all of them (``correction`` none), over the sessions together.

    Sums over the sessions; the peak is the highest of all.
    """

    correction: Correction | None
    before: Totals
    after: Totals


def outcomes(
    config: Mapping[str, Any],
    agent: str,
    rules: RuleSet,
    cases: Sequence[Case],
    changes: Sequence[Correction],
) -> list[Outcome]:
    """Each change alone, then all together; empty without sessions or changes."""
    if not cases or not changes:
        return []
    before = _totals(config, agent, rules, cases, ())
    found = [
        Outcome(change, before, _totals(config, agent, rules, cases, change.edits))
        for change in changes
    ]
    every = [edit for change in changes for edit in change.edits]
    return [*found, Outcome(None, before, _totals(config, agent, rules, cases, every))]


def remaining(
    config: Mapping[str, Any],
    agent: str,
    rules: RuleSet,
    subject: Subject,
    changes: Sequence[Correction],
) -> list[Finding]:
    """What there is still to say of a subject once the changes are made."""
    every = [edit for change in changes for edit in change.edits]
    known = _known(applied(config, every), agent, rules, subject)
    changed = Subject(
        policy=known.policy,
        around=known.around,
        lines=lines_of(known.policy, known.around),
        grown=subject.grown,
        signs=subject.signs,
        entry=subject.entry,
    )
    return by_consequence(findings(changed))


def _totals(
    config: Mapping[str, Any],
    agent: str,
    rules: RuleSet,
    cases: Iterable[Case],
    edits: Iterable[Edit],
) -> Totals:
    changed = applied(config, edits)
    sums: Totals | None = None
    for case in cases:
        known = _known(changed, agent, rules, case.subject)
        totals = case.replayed(known.policy, known.around).totals
        sums = totals if sums is None else _added(sums, totals)
    assert sums is not None
    return sums


def _known(
    config: Mapping[str, Any], agent: str, rules: RuleSet, subject: Subject
) -> SessionPolicy:
    """The settings that a session would have with another file, on the path that it runs on."""
    around = subject.around
    known = session_policy(config, subject.entry or {}, around.provider, around.model, rules, agent)
    return replace(known, around=replace(known.around, path=around.path))


def _added(first: Totals, second: Totals) -> Totals:
    """Sums, but for the peak; a figure that only one of them knows is that one's."""
    pairs = {
        field.name: (getattr(first, field.name), getattr(second, field.name))
        for field in fields(Totals)
    }
    added: dict[str, Any] = {
        name: right if left is None else left if right is None else left + right
        for name, (left, right) in pairs.items()
    }
    return Totals(**{**added, "peak": max(first.peak, second.peak)})
