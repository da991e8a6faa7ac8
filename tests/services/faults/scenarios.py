"""Which faults are tried: a fixed sample in every test run, all of them in the benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from contextlab.process import die_with_parent
from tests.services.processes import ROOT, environment

Scenario = dict[str, Any]
LONG = {"turns": 30, "narrow": True}
LONG_STEPS = 116
"""What a compaction of a long session in a narrow window has; every third one is tried."""
FLUSH_STEPS = 12


def killed_at(work: str, step: int, **more: Any) -> Scenario:
    """Every fifth time the whole worker is killed, otherwise the process that does the job."""
    return {"work": work, "after": step, "act": "worker" if step % 5 == 4 else "child", **more}


def all_points() -> list[Scenario]:
    long = [killed_at("compaction", step, **LONG) for step in range(0, LONG_STEPS, 3)]
    return [*long, *(killed_at("flush", step) for step in range(FLUSH_STEPS))]


SAMPLE = [
    killed_at("compaction", 1),
    killed_at("compaction", 6),
    killed_at("flush", 5),
    {"work": "compaction", "after": 5, "act": "full"},
    {"work": "compaction", "messages": 3},
    {"work": "compaction", "after": 2, "act": "clock"},  # last: that worker's clock stays wrong
]
FULL_SERVICES = [
    *(killed_at("compaction", step) for step in (1, 4, 6, 8, 9)),
    *(killed_at("flush", step) for step in (1, 3, 4, 6, 7)),
]
FULL_SAMPLE = [
    {"work": "compaction", "race": True, "messages": 2},
    killed_at("compaction", 6),
    {"work": "compaction", "after": 3, "act": "drop"},
]
BROKER = [{"work": "compaction", "act": "broker", "after": 0}]


def tried(scenarios: list[Scenario], data: Path, seconds: float = 300, **more: str) -> list[Any]:
    """The driver's answers; it and its workers run in an environment of their own."""
    data.mkdir(parents=True, exist_ok=True)
    settings = {"JOB_LEASE_SECONDS": "1", "MEMORY_FOLDER": str(data / "memory"), **more}
    done = subprocess.run(
        [sys.executable, "-m", "tests.services.faults.driver"],
        input=json.dumps(scenarios), cwd=ROOT, env=environment(data, **settings),
        capture_output=True, text=True, timeout=seconds, preexec_fn=die_with_parent, check=False,
    )  # fmt: skip
    log = data / "workers.log"
    told = log.read_text()[-3_000:] if log.exists() else ""
    assert done.returncode == 0, f"{done.stderr[-3_000:]}\n{told}"
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
