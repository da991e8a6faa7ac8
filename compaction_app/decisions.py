"""Decisions in the database: written in bulk, read back as the engine's, to the byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from compaction_app import checkpoints
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.policy import Policy
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.requests import RunKind
from compaction_app.exact_json import exact_json
from compaction_app.models import Decision as Row
from sessions_app.models import Session, Window

BATCH_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Made:
    """A decision that was made in a turn (counted from 1).

    ``duration_us``: microseconds that the rule took, none where nobody measured.
    """

    turn: int
    stage: StageRecord
    duration_us: int | None = None


def record(
    session: Session,
    made: Iterable[Made],
    *,
    reading: Row.Reading,
    window: Window | None = None,
    policy: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Store the decisions of a turn, in their order, with their checkpoint; returns their rows."""
    rows = [row_of(session, one, reading=reading, window=window, policy=policy) for one in made]
    if not rows:
        return []
    with transaction.atomic():
        # Alone: the keys of what a checkpoint covers have none of another one in between.
        Session.objects.select_for_update().only("pk").get(pk=session.pk)
        stored = Row.objects.bulk_create(rows, batch_size=BATCH_ROWS)
        checkpoints.cover(session.pk, stored)
    return stored


def row_of(
    session: Session,
    made: Made,
    *,
    reading: Row.Reading,
    window: Window | None = None,
    policy: Mapping[str, Any] | None = None,
) -> Row:
    """The row of a decision, not stored yet."""
    stage, decision = made.stage, made.stage.decision
    return Row(
        session=session,
        window=window,
        reading=reading,
        turn=made.turn,
        run=stage.run,
        attempt=stage.attempt,
        call=stage.call,
        stage=stage.stage,
        rule=decision.rule,
        fired=decision.fired,
        outcome=decision.outcome,
        reason=decision.reason,
        rule_set=decision.rule_set,
        inputs=dict(decision.inputs),
        steps=_steps(decision),
        entries={name: list(ids) for name, ids in stage.entries.items()},
        policy=policy,
        duration_us=made.duration_us,
    )


def load(rows: Iterable[Row]) -> Iterator[Made]:
    """Rows as they were when they were recorded."""
    for row in rows:
        yield Made(row.turn, stage_of(row), row.duration_us)


def stage_of(row: Row) -> StageRecord:
    """A row as the stage of a turn."""
    run: RunKind = "flush" if row.run == Row.Run.FLUSH else "turn"
    entries = {name: tuple(ids) for name, ids in row.entries.items()}
    return StageRecord(row.stage, run, row.attempt, row.call, decision_of(row), entries)


def decision_of(row: Row) -> Decision:
    """A row as the engine's decision."""
    return Decision(
        rule=row.rule,
        fired=row.fired,
        outcome=row.outcome,
        reason=row.reason,
        rule_set=row.rule_set,
        inputs=row.inputs,
        steps=tuple(Step(*step) for step in row.steps),
    )


def exact_text(decision: Decision) -> str:
    """The decision as one text: two decisions are the same when their texts are."""
    return exact_json(
        {
            "rule": decision.rule,
            "fired": decision.fired,
            "outcome": decision.outcome,
            "reason": decision.reason,
            "ruleSet": decision.rule_set,
            "inputs": dict(decision.inputs),
            "steps": _steps(decision),
        }
    )


def policy_record(policy: Policy, around: Circumstances) -> dict[str, Any]:
    """What a decision keeps of the policy it was made under: the settings that are no defaults, and
    the circumstances that decide which rules run, and a digest of the rest of the configuration."""
    return {
        "settings": policy.changes(Policy()),
        "rules": around.rules.id,
        "path": around.path,
        "provider": around.provider,
        "model": around.model,
        "config": hashlib.sha256(exact_json(around.config).encode()).hexdigest()[:16],
    }


def _steps(decision: Decision) -> list[list[Any]]:
    return [[step.name, step.formula, step.value, step.unit] for step in decision.steps]
