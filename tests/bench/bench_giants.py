"""Giant files: how much memory their import takes over the idle process, and how large their page is.

Each is imported in a process of its own, for the peak of a process never falls again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from tests import giants

GOAL_MB = 200
GOAL_PAGE_KB = 1024
FILES = {
    "80 MB, 9,522 lines": giants.eighty_megabytes,
    "113 MB, 25,927 lines": giants.twenty_six_thousand_lines,
    "a line of 12.8 million characters": giants.one_giant_line,
    "a line of 12.8 million characters, half CJK": partial(giants.one_giant_line, cjk=True),
}
IMPORT = """
import json, sys
import django
django.setup()
from pathlib import Path
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from sessions_app.imports import Source, import_file
from sessions_app.models import Membership, Team

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024

call_command("migrate", verbosity=0)
team = Team.objects.create(name="Bench")
user = User.objects.create(username="bench")
Membership.objects.create(team=team, user=user, role="owner")
client = Client()
client.force_login(user)
small, large = (Path(name) for name in sys.argv[1:])
first = import_file(team, Source.of_path(small, "small.jsonl")).session
client.get(f"/sessions/{first.uuid}/")
idle = peak()
session = import_file(team, Source.of_path(large, "large.jsonl")).session
imported = peak()
page = client.get(f"/sessions/{session.uuid}/")
assert page.status_code == 200
print(json.dumps({"more": imported - idle, "idle": idle, "page": len(page.content) // 1024, "entries": session.entry_count}))
"""


def measured(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        small = giants.write(Path(folder) / "small.jsonl", giants.session(60, 100_000))
        large = giants.write(Path(folder) / "large.jsonl", FILES[name]())
        done = subprocess.run(
            [sys.executable, "-c", IMPORT, str(small), str(large)],
            env={
                **os.environ,
                "DATA_DIR": folder,
                "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
                "ALLOWED_HOSTS": "testserver",
            },
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in FILES:
        found = measured(name)
        detail = f"{found['entries']:,} entries, idle {found['idle']} MB"
        goals = (
            ("memory of importing", "more", "MB", GOAL_MB),
            ("page of", "page", "kB", GOAL_PAGE_KB),
        )
        for what, key, unit, goal in goals:
            rows.append(
                {
                    "name": f"{what} {name}",
                    "value": found[key],
                    "unit": unit,
                    "goal": f"<= {goal} {unit}",
                    "ok": found[key] <= goal,
                    "detail": detail,
                }
            )
    return rows
