"""Importing a large file must not need memory in proportion to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.builders import Chain, line, usage

FILE_BYTES = 100 << 20
GOAL_MB = 150
WORDS = "The quick brown fox jumps over the lazy dog while the agent reads another file. "

# Runs in a process of its own: the peak of a process never falls again.
IMPORT = """
import json, sys
import django
django.setup()
from django.core.management import call_command
from pathlib import Path
from sessions_app.imports import Source, import_file
from sessions_app.models import Team
from sessions_app.tokens.exact import count

def peak():
    # Of this program alone: getrusage would also tell what the process was before it.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024

call_command("migrate", verbosity=0)
team = Team.objects.create(name="Bench")
small, large = (Path(name) for name in sys.argv[1:])
import_file(team, Source.of_path(small, "small.jsonl"))  # everything is loaded once
idle = peak()
session = import_file(team, Source.of_path(large, "large.jsonl")).session
print(json.dumps({"idle": idle, "peak": peak(), "entries": session.entry_count}))
"""


def write(path: Path, size: int) -> None:
    """A session of about ``size`` bytes: questions, calls, results of all lengths."""
    chain, turn = Chain(), 0
    with path.open("wb") as file:
        written = file.write(chain.data())
        while written < size:
            chain.user(WORDS)
            chain.assistant(WORDS * 3, usage(20_000 + turn, 300), calls=(f"call-{turn}",))
            chain.result(f"call-{turn}", WORDS * (20 + turn * 7919 % 400))
            start = len(chain.records) - 3
            data = b"".join(line(record) + b"\n" for record in chain.records[start:])
            for record in chain.records[start:]:
                del record["message"]  # only their number is needed from here on
            written += file.write(data)
            turn += 1


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        write(small, 100_000)
        write(large, FILE_BYTES)
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", IMPORT, str(small), str(large)],
            env={
                **os.environ,
                "DATA_DIR": folder,
                "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
            },
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.monotonic() - begun
    found = json.loads(done.stdout.splitlines()[-1])
    more = found["peak"] - found["idle"]
    return [
        {
            "name": "memory of importing a 100 MB session, over idle",
            "value": more,
            "unit": "MB",
            "goal": f"< {GOAL_MB}",
            "ok": more < GOAL_MB,
            "detail": f"{found['entries']:,} entries in {seconds:.0f} s, idle {found['idle']} MB",
        }
    ]
