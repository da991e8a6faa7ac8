"""A stored decision made again: from the same inputs, or under another policy or rule set.

An audit's turn is judged anew from the index that was kept of it, on as many entries as were known
then; a live one from what was kept of its moment. Under the settings and rules it was made with the outcome must be the same to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from compaction_app.audits import decisions_of, known_of, simulation_under
from compaction_app.decisions import decision_of, exact_text, policy_record, stage_of
from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.engine.simulation.audit import Since, audited_turns
from compaction_app.engine.simulation.inputs import Known
from compaction_app.engine.turn.record import StageRecord
from compaction_app.live_replay import stages_again
from compaction_app.live_steps import config_of, step_of
from compaction_app.models import AuditedTurn, LiveStep
from compaction_app.models import Decision as Row
from compaction_app.runs import Situation
from compaction_app.side_by_side import Line, figure, side_by_side

WRITTEN: Final = "boundary"
"""The entry that a compaction writes gets a new id each time."""


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
    config = config_of(kept.get("config"))
    around = replace(
        situation.around,
        path=path,
        provider=kept.get("provider", situation.around.provider),
        model=kept.get("model", situation.around.model),
        rules=RULE_SETS.get(row.rule_set, DEFAULT_RULE_SET),
        config=situation.around.config if config is None else config,
    )
    policy = with_changes(Policy(), kept.get("settings", {}))
    return replace(situation, policy=policy, around=around)


def basis_of(row: Row) -> AuditedTurn | LiveStep | None:
    """What a decision can be made again on: its audited turn, or what was kept of a live one.

    None when the turn was judged anew since, or for a live decision from before its inputs were kept.
    """
    if row.window_id is None:
        return None
    if row.reading == Row.Reading.LIVE:
        return step_of(row)
    if row.reading != Row.Reading.AUDIT:
        return None
    return AuditedTurn.objects.filter(
        window=row.window_id, number=row.turn, first__lte=row.pk, last__gte=row.pk
    ).first()


class Judged:
    """Turns that were judged again, for who replays many decisions: each transcript is read once, and each
    turn judged once, under the settings that its decisions were made under."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Known] = {}
        self._stages: dict[tuple[str, int], Sequence[StageRecord]] = {}

    def stages(
        self,
        basis: AuditedTurn | LiveStep,
        situation: Situation,
        policy: Policy,
        around: Circumstances,
    ) -> Sequence[StageRecord]:
        """All decisions that were made on ``basis``, again."""
        key = (type(basis).__name__, basis.pk)
        is_same = policy == situation.policy and around == situation.around
        if is_same and key in self._stages:
            return self._stages[key]
        found = self._judge(basis, situation, policy, around)
        if is_same:
            self._stages[key] = found
        return found

    def _judge(
        self,
        basis: AuditedTurn | LiveStep,
        situation: Situation,
        policy: Policy,
        around: Circumstances,
    ) -> Sequence[StageRecord]:
        if isinstance(basis, LiveStep):
            return stages_again(basis, policy, around)
        place = (basis.window_id, basis.entries)
        known = self._known.get(place)
        if known is None or known.own_policy != situation.policy:
            known = self._known[place] = known_of(situation, basis.entries)
        inputs = simulation_under(known, policy, around)
        done = next(audited_turns(inputs, Since(basis.number, basis.index)), None)
        return done.turn.result.stages if done else ()


def replay(
    row: Row,
    basis: AuditedTurn | LiveStep,
    situation: Situation,
    policy: Policy,
    around: Circumstances,
    judged: Judged | None = None,
) -> Replayed:
    """Make the decision again; ``situation`` is that which it was made under.

    ``judged``: turns that were judged again before, to be used once more.
    """
    stages = (judged or Judged()).stages(basis, situation, policy, around)
    again = _counterpart(row, basis, stages)
    stored = decision_of(row)
    agrees = again is not None and exact_text(again.decision) == exact_text(stored)
    is_same = policy == situation.policy and around == situation.around
    kept = (row.policy or {}).get("config")
    is_known = config_of(kept) is not None
    now = policy_record(situation.policy, situation.around)
    return Replayed(
        lines=side_by_side(dict(_lines(stage_of(row))), dict(_lines(again)) if again else {}),
        again=again,
        is_same=is_same,
        agrees=agrees,
        config_changed=not is_known and kept != now["config"],
    )


def _counterpart(
    row: Row, basis: AuditedTurn | LiveStep, stages: Sequence[StageRecord]
) -> StageRecord | None:
    """The same stage at the same place. Counted from the end: retention drops from the beginning."""
    own = stage_of(row)
    behind = [
        r for r in decisions_of(basis).filter(pk__gt=row.pk) if _place(stage_of(r)) == _place(own)
    ]
    alike = [stage for stage in stages if _place(stage) == _place(own)]
    at = len(alike) - 1 - len(behind)
    return alike[at] if at >= 0 else None


def _place(stage: StageRecord) -> tuple[str, str, int, int]:
    return stage.stage, stage.run, stage.attempt, stage.call


def _lines(stage: StageRecord) -> Iterator[tuple[str, str]]:
    decision = stage.decision
    yield "rule set", decision.rule_set
    for name, value in decision.inputs.items():
        yield name, figure(value)
    seen: dict[str, int] = {}
    for step in decision.steps:
        seen[step.name] = seen.get(step.name, 0) + 1
        name = step.name if seen[step.name] == 1 else f"{step.name} ({seen[step.name]})"
        yield f"= {name}", f"{figure(step.value)}  {step.formula}"
    for name, ids in stage.entries.items():
        if name != WRITTEN:
            yield f"entries {name}", f"{len(ids):,}: {ids[0]} to {ids[-1]}"
    yield "fires", "yes" if decision.fired else "no"
    yield "outcome", decision.outcome
    yield "reason", decision.reason
