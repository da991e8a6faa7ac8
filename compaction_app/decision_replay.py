"""A stored decision made again: from the same inputs, or under another policy or rule set.

Its turn is judged anew from the index that the audit kept of it, on as many entries as were known
then. Under the settings and rules it was made with the outcome must be the same to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from compaction_app.audits import decisions_of, simulation_of
from compaction_app.decisions import decision_of, exact_text, policy_record, stage_of
from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.engine.simulation.audit import Since, audited_turns
from compaction_app.engine.turn.record import StageRecord
from compaction_app.models import AuditedTurn
from compaction_app.models import Decision as Row
from compaction_app.runs import Situation

WRITTEN: Final = "boundary"
"""The entry that a compaction writes gets a new id each time."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a decision, as it was stored and as the replay has it; "" where one has none.

    ``is_first`` marks the first line of all that differs.
    """

    name: str
    stored: str
    again: str
    is_first: bool = False

    @property
    def differs(self) -> bool:
        return self.stored != self.again


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replay beside the stored decision.

    ``is_same`` says whether policy, circumstances and rules are those it was made under, ``agrees``
    whether both are the same to the byte. ``again`` is none where the turn never comes to this stage.
    ``config_changed``: the rest of the configuration is another by now.
    """

    lines: tuple[Line, ...]
    again: StageRecord | None
    is_same: bool
    agrees: bool
    config_changed: bool = False

    @property
    def is_defect(self) -> bool:
        """Same rules, same inputs, another outcome: that is our fault, and the page says so."""
        return self.is_same and not self.agrees and not self.config_changed


def made_under(row: Row, situation: Situation) -> Situation:
    """The session's situation with the policy and circumstances that a decision was made under."""
    kept = row.policy or {}
    path = next((p for p in PATHS if p == kept.get("path")), situation.around.path)
    around = replace(
        situation.around,
        path=path,
        provider=kept.get("provider", situation.around.provider),
        model=kept.get("model", situation.around.model),
        rules=RULE_SETS.get(row.rule_set, DEFAULT_RULE_SET),
    )
    policy = with_changes(Policy(), kept.get("settings", {}))
    return replace(situation, policy=policy, around=around)


def turn_of(row: Row) -> AuditedTurn | None:
    """The audited turn that a decision belongs to; none when the turn was judged anew since."""
    if row.window_id is None or row.reading != Row.Reading.AUDIT:
        return None
    return AuditedTurn.objects.filter(
        window=row.window_id, number=row.turn, first__lte=row.pk, last__gte=row.pk
    ).first()


def replay(
    row: Row, turn: AuditedTurn, situation: Situation, policy: Policy, around: Circumstances
) -> Replayed:
    """Judge the decision's turn again; ``situation`` is that which it was made under."""
    inputs = simulation_of(situation, policy, around, turn.entries)
    done = next(audited_turns(inputs, Since(turn.number, turn.index)), None)
    stages = done.turn.result.stages if done else ()
    again = _counterpart(row, turn, stages)
    stored = decision_of(row)
    agrees = again is not None and exact_text(again.decision) == exact_text(stored)
    is_same = policy == situation.policy and around == situation.around
    kept = row.policy or {}
    now = policy_record(situation.policy, situation.around)
    return Replayed(
        lines=_side_by_side(stage_of(row), again),
        again=again,
        is_same=is_same,
        agrees=agrees,
        config_changed=kept.get("config") != now["config"],
    )


def _counterpart(row: Row, turn: AuditedTurn, stages: Sequence[StageRecord]) -> StageRecord | None:
    """The same stage at the same place. Counted from the end: retention drops from the beginning."""
    own = stage_of(row)
    behind = [
        r for r in decisions_of(turn).filter(pk__gt=row.pk) if _place(stage_of(r)) == _place(own)
    ]
    alike = [stage for stage in stages if _place(stage) == _place(own)]
    at = len(alike) - 1 - len(behind)
    return alike[at] if at >= 0 else None


def _place(stage: StageRecord) -> tuple[str, str, int, int]:
    return stage.stage, stage.run, stage.attempt, stage.call


def _side_by_side(stored: StageRecord, again: StageRecord | None) -> tuple[Line, ...]:
    """The lines of both by their names, in the order of the stored one, the other's own behind."""
    left, right = dict(_lines(stored)), dict(_lines(again)) if again else {}
    names = [*left, *(name for name in right if name not in left)]
    lines = [Line(name, left.get(name, ""), right.get(name, "")) for name in names]
    first = next((n for n, line in enumerate(lines) if line.differs), None)
    return tuple(replace(line, is_first=n == first) for n, line in enumerate(lines))


def _lines(stage: StageRecord) -> Iterator[tuple[str, str]]:
    decision = stage.decision
    yield "rule set", decision.rule_set
    for name, value in decision.inputs.items():
        yield name, _figure(value)
    seen: dict[str, int] = {}
    for step in decision.steps:
        seen[step.name] = seen.get(step.name, 0) + 1
        name = step.name if seen[step.name] == 1 else f"{step.name} ({seen[step.name]})"
        yield f"= {name}", f"{_figure(step.value)}  {step.formula}"
    for name, ids in stage.entries.items():
        if name != WRITTEN:
            yield f"entries {name}", f"{len(ids):,}: {ids[0]} to {ids[-1]}"
    yield "fires", "yes" if decision.fired else "no"
    yield "outcome", decision.outcome
    yield "reason", decision.reason


def _figure(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
