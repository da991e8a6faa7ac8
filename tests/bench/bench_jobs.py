"""200 sessions that are fed while two workers compact them, in the embedded setup.

Appends are compared in one run, with and without running jobs, by their middle; the machine's two
processors do everything at once, so the ratio tells of locks and of shared processors alike.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from contextlab.process import die_with_parent
from tests.services.processes import ROOT, environment

SESSIONS = 200
JOBS_PER_SECOND = 2.0
RATIO = 3.0


def measure(sessions: int = SESSIONS) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.load_driver", str(sessions)],
            cwd=ROOT, env=environment(Path(folder)), capture_output=True, text=True, check=True,
            preexec_fn=die_with_parent,
        )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    ratio = (found["append_beside"] or float("nan")) / found["append_alone"]
    whole = found["agree"] and found["succeeded"] == sessions
    return [
        {
            "name": f"compactions of {sessions} fed sessions by 2 workers",
            "value": found["jobs_per_second"],
            "unit": "jobs/s",
            "goal": f">= {JOBS_PER_SECOND:g}, none lost or doubled",
            "ok": whole and found["jobs_per_second"] >= JOBS_PER_SECOND,
            "detail": f"median wait in the queue {found['queue_delay']:.1f} s",
        },
        {
            "name": "an append beside running jobs",
            "value": ratio,
            "unit": "times as long as without",
            "goal": f"<= {RATIO:g}",
            "ok": ratio <= RATIO,
            "detail": f"{found['append_alone'] * 1000:.1f} ms alone, {found['appends']} beside",
        },
    ]
