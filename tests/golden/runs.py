"""Recorded runs of the real runtime, and their replay under the configuration they were recorded with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, OPENCLAW_2026_9, RuleSet
from compaction_app.engine.simulation.driver import SimulatedTurn
from compaction_app.engine.simulation.inputs import (
    Asked,
    SimulationInputs,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.simulation.report import what_if_report
from compaction_app.session_files import find_sessions

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "tests" / "data" / "runs"
SAMPLES = ROOT / "sessions_app" / "samples"
NEWER = "2026.9.6/"
NAMES = sorted(
    str(path.parent.relative_to(RUNS))
    for pattern in ("*/checks.json", f"{NEWER}*/checks.json")
    for path in RUNS.glob(pattern)
)
OF_2026_5_28 = [name for name in NAMES if not name.startswith(NEWER)]
LOCAL = ("local-agent",)
"""Runs that went through ``openclaw agent --local``."""


@dataclass(frozen=True)
class Run:
    """A run's replay; ``recorded_bytes`` is the size of its transcript."""

    inputs: SimulationInputs
    turns: list[SimulatedTurn]
    report: dict[str, Any]
    recorded_bytes: int


def rules_of(name: str) -> RuleSet:
    """The rule set of the version that a run was recorded with."""
    return OPENCLAW_2026_9 if name.startswith(NEWER) else OPENCLAW_2026_5_28


def folder(name: str) -> Path:
    """Where a run's transcript, configuration and index lie."""
    sample = SAMPLES / name
    return sample if sample.is_dir() else RUNS / name


@cache
def replayed(name: str) -> tuple[Run, ...]:
    """The sessions of a run, each replayed under the run's own configuration."""
    asked = Asked(rules_of(name), path="local" if name in LOCAL else None)
    runs = []
    for files in find_sessions([folder(name)]):
        inputs = simulation_inputs(files, asked)
        turns = what_if(inputs)
        size = (folder(name) / f"{inputs.session_id}.jsonl").stat().st_size
        runs.append(Run(inputs, turns, what_if_report(inputs, turns), size))
    return tuple(runs)


def data(name: str, file: str) -> Any:
    """A recorded file of a run beside its transcript."""
    path = RUNS / name / file
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    if file.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)
