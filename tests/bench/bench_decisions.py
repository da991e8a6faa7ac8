"""Replaying every decision of all recorded runs and real transcripts: all of them come out to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from contextlab.process import die_with_parent
from tests.services.processes import ROOT, environment


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.decisions_driver"],
            cwd=ROOT, env=environment(Path(folder), LOG_LEVEL="ERROR"), capture_output=True, text=True,
            check=True, preexec_fn=die_with_parent,
        )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return [
        {
            "name": f"decisions of {len(verdicts)} {what} that a replay makes again",
            "value": 100 * _sum(verdicts)["agrees"] / _sum(verdicts).total(),
            "unit": "%",
            "goal": "100",
            "ok": set(_sum(verdicts)) == {"agrees"},
            "detail": ", ".join(f"{n:,} {verdict}" for verdict, n in _sum(verdicts).items()),
        }
        for what, verdicts in found.items()
    ]


def _sum(verdicts: dict[str, dict[str, int]]) -> Counter[str]:
    return sum((Counter(found) for found in verdicts.values()), Counter())
