"""Decisions of an audit as texts, to compare them to the byte."""

from __future__ import annotations

from compaction_app.decisions import exact_text
from compaction_app.engine.simulation.audit import audit
from compaction_app.engine.simulation.inputs import SimulationInputs


def exact_decisions(inputs: SimulationInputs) -> list[str]:
    return [exact_text(s.decision) for done in audit(inputs) for s in done.turn.result.stages]
