"""A state folder of many sessions must be examined soon, and with flat memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.sessions import long_session

SESSIONS = 2_000
ENTRIES = (10, 30, 60, 120)
"""Files of 30 to 400 KB, as state folders hold them; a quarter of each."""
GOAL_SECONDS = 60
GOAL_MORE_MB = 60

# Runs in a process of its own: the peak of a process never falls again.
EXAMINE = """
import json, sys
import django
django.setup()
from pathlib import Path
from compaction_app.doctor_folder import examine_paths

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024

few, many = (Path(name) for name in sys.argv[1:])
examine_paths([few])  # everything is loaded once
idle = peak()
found = examine_paths([many])
print(json.dumps({"idle": idle, "peak": peak(), "sessions": found.sessions}))
"""


def write(state: Path, sessions: int) -> int:
    """A state folder; the number of bytes in it."""
    folder = state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    texts = [b"".join(long_session(entries)) for entries in ENTRIES]
    index = {}
    for number in range(sessions):
        identity = f"session-{number:05}"
        text = texts[number % len(texts)]
        header, _, rest = text.partition(b"\n")
        record = json.loads(header) | {"id": identity}
        (folder / f"{identity}.jsonl").write_bytes(json.dumps(record).encode() + b"\n" + rest)
        index[f"agent:main:{number}"] = {"sessionId": identity}
    (folder / "sessions.json").write_text(json.dumps(index), encoding="utf-8")
    (state / "openclaw.json").write_text("{agents: {defaults: {}}}", encoding="utf-8")
    return sum(path.stat().st_size for path in folder.iterdir())


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        write(few, 20)
        size = write(many, SESSIONS)
        begun, spent = time.monotonic(), _children_seconds()
        done = subprocess.run(
            [sys.executable, "-c", EXAMINE, str(few), str(many)],
            env={**os.environ, "DATA_DIR": folder},
            check=True,
            capture_output=True,
            text=True,
        )
        wall, seconds = time.monotonic() - begun, _children_seconds() - spent
    found = json.loads(done.stdout.splitlines()[-1])
    more = found["peak"] - found["idle"]
    return [
        {
            "name": f"the doctor on a state folder of {SESSIONS:,} sessions",
            "value": seconds,
            "unit": "s",
            "goal": f"< {GOAL_SECONDS}",
            "ok": seconds < GOAL_SECONDS and found["sessions"] == SESSIONS,
            "detail": f"processor time; {size >> 20} MB in {found['sessions']:,} files, {wall:.0f} s on the clock",
        },
        {
            "name": f"memory of the doctor on {SESSIONS:,} sessions, over that on 20",
            "value": more,
            "unit": "MB",
            "goal": f"< {GOAL_MORE_MB}",
            "ok": more < GOAL_MORE_MB,
            "detail": f"peak {found['peak']} MB",
        },
    ]
