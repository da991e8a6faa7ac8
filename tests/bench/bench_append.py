"""Appending to a session of 100,000 entries, and preparing a call of it, against one of 1,000."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.append_cost import LONG, SHORT
from tests.services.processes import Program

GOAL = 1.5


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        with Program(["manage.py", "migrate", "--no-input"], data) as program:
            assert program.process.wait(300) == 0, program.output()
        with Program(["-m", "tests.bench.append_cost"], data) as program:
            assert program.process.wait(1200) == 0, program.output()
            found = json.loads(program.output().splitlines()[-1])
    return [_result(name, found[name]) for name in ("append", "prepare")]


def _result(name: str, medians: dict[str, float]) -> dict[str, Any]:
    short, long = medians[str(SHORT)], medians[str(LONG)]
    return {
        "name": f"{name} at {LONG:,} entries against {SHORT:,}",
        "value": round(long / short, 2),
        "unit": "x",
        "goal": f"<= {GOAL} x",
        "ok": long / short <= GOAL,
        "detail": f"{long:.1f} ms and {short:.1f} ms of processor time, medians",
    }
