"""The admin's pages of decisions with a million of them: the middle of each, and as many queries as with few.

On SQLite, and on a PostgreSQL of its own where that is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from contextlab.process import die_with_parent
from tests.services.conftest import can_run_postgres, own_postgres
from tests.services.processes import ROOT, environment

ROWS = 1_000_000
MILLISECONDS = 500.0


def measure(rows: int = ROWS) -> list[dict[str, Any]]:
    found = _measured(rows, "SQLite")
    if can_run_postgres():
        with own_postgres() as url:
            found += _measured(rows, "PostgreSQL", DATABASE_URL=url)
    return found


def _measured(rows: int, database: str, **settings: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.admin_driver", str(rows)],
            cwd=ROOT, env=environment(Path(folder), LOG_LEVEL="WARNING", **settings),
            capture_output=True, text=True, check=True, preexec_fn=die_with_parent,
        )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return [
        {
            "name": f"admin, {rows:,} decisions, {database}: {page}",
            "value": taken,
            "unit": "ms",
            "goal": f"<= {MILLISECONDS:g}, as many queries as with few",
            "ok": taken <= MILLISECONDS and queries == found["few"][page][1],
            "detail": f"{queries} queries; {found['few'][page][0]:.0f} ms with few",
        }
        for page, (taken, queries) in found["many"].items()
    ]
