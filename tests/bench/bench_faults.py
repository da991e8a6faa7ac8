"""A worker killed at every step of a compaction and of a flush: what is lost, and how long it takes.

The seconds are those until the job has ended, with a lease of one second; they hold starting a worker
anew where the whole of it was killed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "services" / "test_faults.py"


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "faults.jsonl"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", str(FILE)],
            env=os.environ | {"FAULTS": str(report)}, stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        lines = report.read_text().splitlines() if report.exists() else []
    results = [json.loads(line) for line in lines]
    return [
        _row(setup, goal, results)
        for setup, goal in (("embedded", 50), ("PostgreSQL and Redis", 10))
    ]


def _row(setup: str, goal: int, results: list[dict[str, Any]]) -> dict[str, Any]:
    acts = ("child", "worker")
    mine = [r for r in results if r["setup"] == setup and r["scenario"].get("act") in acts]
    harmed = [r for r in mine if r["problems"]]
    hit = sorted({f"{r['scenario']['work']} {r['step']}" for r in mine if r["step"]})
    seconds = [r["seconds"] for r in mine]
    middle = statistics.median(seconds) if seconds else float("nan")
    return {
        "name": f"kills that lost or doubled something, {setup}",
        "value": len(harmed),
        "unit": f"of {len(mine)}",
        "goal": f"0 of {goal} or more",
        "ok": not harmed and len(mine) >= goal,
        "detail": f"{len(hit)} kinds of step hit; median {middle:.1f} s until the job had ended",
    }
