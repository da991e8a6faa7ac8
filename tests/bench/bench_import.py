"""Importing a folder against a loop that only reads, parses and counts tokens on the same bytes.

Both run in one process of their own, so their ratio does not depend on the machine. A folder that nobody
has written to is imported again: that must cost one look at each file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests import giants
from tests.builders import header, jsonl, short_session
from tests.importers.reading import SAMPLES

FILES = 10
SMALL_FILES = 7_806
STORED_GOAL, ALL_GOAL, LOOKS_GOAL = 2.0, 4.0, 12.0
"""A look is a stat; with the query and the report it may cost so many of them."""

RUN = """
import json, os, sys, time
import django
django.setup()
from pathlib import Path
from django.core.management import call_command
import orjson
from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.signals import session_changed
from sessions_app.models import Entry, Team
from sessions_app.secret_search import search_all
from sessions_app.tokens.exact import count
from sessions_app.transcripts.measures import all_texts, context_message

call_command("migrate", verbosity=0)
team = Team.objects.create(name="Bench")
large, small, warm = (Path(name) for name in sys.argv[1:])

def sources(folder):
    return [Source.of_path(path, path.as_posix()) for path in walk(folder)]

def imported(folder, team=team):
    reports = import_files(team, sources(folder), root=Path.cwd())
    return [report.status for report in reports if report.path.endswith(".jsonl")]

def loop(folder):
    tokens = 0
    for path in walk(folder):
        with path.open("rb") as file:
            for line in file:
                record = orjson.loads(line)
                message = context_message(record.get("type"), record)
                tokens += sum(count(text, "o200k_base") for text in all_texts(message))
    return tokens

def stored(folder):
    # Without the second stage, for which the floor above listens.
    listening, session_changed.receivers = session_changed.receivers, []
    session_changed.sender_receivers_cache.clear()
    imported(folder, Team.objects.create(name="First stage"))
    session_changed.receivers = listening
    session_changed.sender_receivers_cache.clear()

def seconds(run, folder):
    begun = time.process_time()
    run(folder)
    return time.process_time() - begun

imported(warm)
loop(warm)
before = seconds(loop, large)
first = seconds(stored, large)
spent = seconds(imported, large)
# Both copies are looked through for secrets; one is counted.
spent += seconds(lambda _: search_all(3_600), large) / 2
after = seconds(loop, large)
imported(small)
begun = time.process_time()
statuses = imported(small)
again = time.process_time() - begun
assert set(statuses) == {"unchanged"}, set(statuses)
begun = time.process_time()
for path in walk(small):
    os.stat(path)
looks = time.process_time() - begun
print(json.dumps({"loop": (before + after) / 2, "stored": first, "import": spent, "again": again, "looks": looks,
                  "files": len(statuses), "entries": Entry.objects.count()}))
"""


def measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("large", "small", "warm")]
        for place in places:
            place.mkdir()
        sample = (SAMPLES / "pi-v3-1-two-compactions.jsonl").read_bytes()
        for number in range(FILES):
            head = sample.replace(b'"id":"', b'"id":"%d-' % number, 1)
            (places[0] / f"{number}.jsonl").write_bytes(head)
        rest = jsonl(*short_session(turns=1).records[1:])
        for number in range(SMALL_FILES):
            path = places[1] / f"{number}.jsonl"
            path.write_bytes(jsonl(header(3, f"small-{number}")) + rest)
        (places[1] / "sessions.json").write_bytes(b"")
        giants.write(places[2] / "warm.jsonl", giants.session(50, 50_000))
        done = subprocess.run(
            [sys.executable, "-c", RUN, *map(str, places)],
            env={
                **os.environ,
                "DATA_DIR": data,
                "DATABASE_URL": f"sqlite:///{data}/db.sqlite3",
                "DJANGO_SETTINGS_MODULE": "contextlab.settings",
                "LOG_LEVEL": "ERROR",
            },
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure() -> list[dict[str, Any]]:
    found = measured()
    loop, looks = found["loop"], found["again"] / found["looks"]
    times = (
        ("entries of a folder stored", found["stored"] / loop, STORED_GOAL, found["stored"]),
        (
            "folder imported, verdicts, secrets and all",
            found["import"] / loop,
            ALL_GOAL,
            found["import"],
        ),
    )
    rows = [
        {
            "name": f"{name}, times a loop that reads, parses and counts tokens",
            "value": round(ratio, 2),
            "unit": "x",
            "goal": f"<= {goal} x",
            "ok": ratio <= goal,
            "detail": f"loop {loop:.1f} s, import {seconds:.1f} s of processor time",
        }
        for name, ratio, goal, seconds in times
    ]
    return [
        *rows,
        {
            "name": f"import of {found['files']:,} unwritten files, times one stat of each",
            "value": round(looks, 2),
            "unit": "x",
            "goal": f"<= {LOOKS_GOAL} x",
            "ok": looks <= LOOKS_GOAL,
            "detail": f"{found['again']:.2f} s of processor time, no file is opened",
        },
    ]
