"""Many live sessions that are fed while two workers compact them; in an environment of its own.

``python -m tests.bench.load_driver SESSIONS``: one line of JSON on the standard output.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from compaction_app import live_turns  # noqa: E402
from compaction_app.compaction_jobs import request_compaction  # noqa: E402
from compaction_app.models import CompactionRecord  # noqa: E402
from compaction_app.policies import save_version  # noqa: E402
from contextlab import broker  # noqa: E402
from contextlab.management.commands.up import WORKER  # noqa: E402
from contextlab.process import die_with_parent  # noqa: E402
from sessions_app.live_sessions import create_session  # noqa: E402
from sessions_app.models import Agent, Entry, Job, Session, Team  # noqa: E402
from tests.compaction_app.live import SMALL, answer, user  # noqa: E402

WORKERS = 2
TURNS = 4
PATIENCE_SECONDS = 600


def append(session: Session, number: int) -> float:
    """Seconds that one append of a prompt and its answer took."""
    messages = [user(f"Question {number}: " + "alpha beta " * 500), answer("Yes", prompt=1_000)]
    began = time.perf_counter()
    live_turns.append(session, messages)
    return time.perf_counter() - began


def start_workers() -> list[subprocess.Popen[bytes]]:
    options = [option for option in WORKER if option != "--beat"]
    log = (Path(settings.DATA_DIR) / "workers.log").open("ab")
    found = []
    for number in range(WORKERS):
        mine = [o.replace("worker@", f"worker{number}@") for o in options]
        found.append(
            subprocess.Popen(
                [sys.executable, *mine, "--concurrency", "1"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent,
            )
        )  # fmt: skip
    return found


def measure(count: int) -> dict[str, Any]:
    team = Team.objects.create(name="load")
    agent = Agent.objects.create(team=team, name="main", model="claude-test", is_live=True)
    save_version(agent, SMALL)
    sessions = [create_session(agent) for _ in range(count)]
    for turn in range(TURNS):
        for session in sessions:
            append(session, turn)
    alone = [append(session, TURNS) for session in sessions]
    began = time.perf_counter()
    for session in sessions:
        request_compaction(session)
    beside: list[float] = []
    finished = Job.objects.filter(state__in=("succeeded", "failed"))
    while finished.count() < count and time.perf_counter() - began < PATIENCE_SECONDS:
        beside += [append(session, TURNS + 1) for session in sessions[:: max(1, count // 20)]]
    seconds = time.perf_counter() - began
    waits = [
        (j.started_at - j.queued_at).total_seconds() for j in Job.objects.all() if j.started_at
    ]
    entries = Entry.objects.filter(type="compaction").count()
    records = CompactionRecord.objects.filter(outcome="compacted").count()
    return {
        "sessions": count,
        "succeeded": Job.objects.filter(state="succeeded").count(),
        "compactions": entries,
        "agree": entries == records == count,
        "jobs_per_second": count / seconds,
        "queue_delay": statistics.median(waits) if waits else None,
        "append_alone": statistics.median(alone),
        "append_beside": statistics.median(beside) if beside else None,
        "appends": len(beside),
    }


def main() -> None:
    if not settings.REDIS_URL:
        broker.create(settings.CELERY_BROKER_FOLDER)
    call_command("migrate", verbosity=0)
    workers = start_workers()
    try:
        print(json.dumps(measure(int(sys.argv[1]))), flush=True)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


if __name__ == "__main__":
    main()
