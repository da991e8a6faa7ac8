"""Runs one scenario after the other against real workers, in the environment of those workers.

``python -m tests.services.faults.driver``: scenarios as JSON on the standard input, one line of JSON
for each on the standard output: ``{"scenario", "problems", "step", "attempts", "seconds"}``. No problems
means: no entry was lost, no cycle was compacted twice, no note was lost or doubled, and the job has
ended as it was to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
django.setup()

from celery import current_app  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from compaction_app import live_turns  # noqa: E402
from compaction_app.compaction_jobs import request_compaction  # noqa: E402
from compaction_app.flush_jobs import request_flush  # noqa: E402
from compaction_app.models import CompactionRecord, FlushRecord, MemoryNote  # noqa: E402
from compaction_app.policies import save_version  # noqa: E402
from contextlab.management.commands.up import WORKER  # noqa: E402
from contextlab.models import WorkerHeartbeat  # noqa: E402
from contextlab.process import die_with_parent  # noqa: E402
from sessions_app import jobs  # noqa: E402
from sessions_app.live_sessions import create_session  # noqa: E402
from sessions_app.models import Agent, Entry, Event, Job, Session, Team  # noqa: E402
from tests.compaction_app.live import SMALL, answer, user  # noqa: E402

ENDS = ("succeeded", "failed", "cancelled")
PATIENCE_SECONDS = 90.0
"""For a job to end. A worker that was killed is started anew within it, which on a loaded machine takes half a
minute; what is judged is what is left, not how soon."""
START_SECONDS = 120.0
SWEEP_SECONDS = 0.3
POLICY = {**SMALL, "compaction.mode": "safeguard", "compaction.keepRecentTokens": 600}
NARROW = {
    **POLICY,
    "contextWindow": 12_000,
    "compaction.reserveTokens": 3_000,
    "compaction.reserveTokensFloor": 2_000,
}
"""A narrow window makes many portions, so that a compaction has many steps."""


class Workers:
    """So many workers; one that has died is started again."""

    def __init__(self, count: int) -> None:
        self.running: list[subprocess.Popen[bytes]] = []
        self.count = count

    def ensure(self) -> None:
        self.running = [worker for worker in self.running if worker.poll() is None]
        while len(self.running) < self.count:
            self.running.append(self._start(len(self.running)))

    def end(self) -> None:
        for worker in self.running:
            worker.kill()
            worker.wait()

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        options = [option for option in WORKER if option != "--beat"]
        options[options.index("worker@%h")] = f"worker{number}.{os.urandom(2).hex()}@%h"
        more = ["-I", "tests.services.faults.hooks", "--concurrency", "2"]
        log = (Path(settings.DATA_DIR) / "workers.log").open("ab")
        return subprocess.Popen(
            [sys.executable, *options, *more],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent,
        )  # fmt: skip


class Broker:
    """A Redis of the driver's own on the port of REDIS_URL, which it can stop and start."""

    def __init__(self) -> None:
        self.running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        port = str(urlsplit(settings.REDIS_URL).port)
        self.running = subprocess.Popen(
            ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(settings.DATA_DIR)],
            stdout=subprocess.DEVNULL, preexec_fn=die_with_parent,
        )  # fmt: skip
        until = time.monotonic() + 20
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            while time.monotonic() < until:
                with suppress(redis.ConnectionError):
                    client.ping()
                    return
                time.sleep(0.05)

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()


BROKER = Broker()


def talk(session: Session, turns: int) -> None:
    for number in range(turns):
        prompt = user(f"Question {number} about port {8000 + number}: " + "alpha beta " * 300)
        live_turns.append(session, [prompt, answer(f"Answer {number}", prompt=900 * (number + 1))])


def new_session(turns: int, policy: dict[str, Any]) -> Session:
    team, _ = Team.objects.get_or_create(name="faults")
    agent, made = Agent.objects.get_or_create(
        team=team, name="main" if policy is POLICY else "narrow",
        defaults={"provider": "anthropic", "model": "claude-test", "is_live": True},
    )  # fmt: skip
    if made:
        save_version(agent, policy)
    session = create_session(agent)
    talk(session, turns)
    return session


def settle(job: Job, workers: Workers, fault: Path) -> None:
    """Wait until the job has ended; lost messages and dead workers are swept up meanwhile."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        job.refresh_from_db()
        if job.state in ENDS:
            return
        if fault.with_name("fault.done").exists() or workers.count > 1:
            workers.ensure()
        jobs.sweep()
        time.sleep(SWEEP_SECONDS)


def run(scenario: dict[str, Any], workers: Workers) -> dict[str, Any]:
    began = time.monotonic()
    fault = Path(settings.DATA_DIR) / "fault"
    for left in (fault, fault.with_name("fault.done")):
        left.unlink(missing_ok=True)
    session = new_session(scenario.get("turns", 6), NARROW if scenario.get("narrow") else POLICY)
    before = entries_of(session)
    if "act" in scenario:
        fault.write_text(json.dumps({"after": scenario["after"], "act": scenario["act"]}))
    work = scenario["work"]
    if scenario.get("act") == "broker":
        fault.unlink()
        BROKER.stop()
    job = request_flush(session) if work == "flush" else request_compaction(session)
    others = []
    if scenario.get("race"):
        others = [request_compaction(session, instructions="another"), request_flush(session)]
    for _ in range(scenario.get("messages", 1) - 1):
        current_app.send_task(jobs.KINDS[job.kind].task, args=[str(job.uuid)])
    said = live_turns.append(session, [user("a word in between")]).receipts[0].id
    if scenario.get("act") == "broker":
        time.sleep(1)
        if Job.objects.get(pk=job.pk).state != "queued":
            raise RuntimeError("the job did not wait for the broker")
        BROKER.start()
    for one in (job, *others):
        settle(one, workers, fault)
    job.refresh_from_db()
    step = None
    with suppress(FileNotFoundError):
        step = fault.with_name("fault.done").read_text()
    steps = None
    with suppress(FileNotFoundError):
        steps = scenario.get("after", 0) - json.loads(fault.read_text())["after"]
        fault.unlink()
    return {
        "steps": steps,
        "scenario": scenario,
        "problems": list(problems(session, job, others, before, said, scenario)),
        "step": step,
        "attempts": job.tries.count(),
        "seconds": round(time.monotonic() - began, 2),
    }


def entries_of(session: Session) -> dict[str, bytes]:
    rows = Entry.objects.filter(window__session=session).order_by("seq")
    return {
        identity: bytes(payload) for identity, payload in rows.values_list("entry_id", "payload")
    }


def problems(
    session: Session,
    job: Job,
    others: list[Job],
    before: dict[str, bytes],
    said: str | None,
    scenario: dict[str, Any],
) -> Iterator[str]:
    """What is not as it must be."""
    if job.state != scenario.get("state", "succeeded"):
        yield f"the job is {job.state}: {job.error}"
    for other in others:
        other.refresh_from_db()
        if other.state not in ENDS:
            yield f"another job is {other.state}"
    session.refresh_from_db()
    after = entries_of(session)
    lost = [one for one in (*before, said) if one not in after]
    if lost:
        yield f"lost entries: {lost}"
    if any(after[one] != data for one, data in before.items() if one in after):
        yield "changed entries"
    seqs = list(Entry.objects.filter(window__session=session).order_by("seq").values_list("seq", flat=True))  # fmt: skip
    if seqs != list(range(len(seqs))):
        yield "entries are not numbered without gaps"
    yield from of_compactions(session, job, scenario)
    yield from of_flushes(session, job, scenario)
    numbers = list(Event.objects.filter(session=session).order_by("sequence").values_list("sequence", flat=True))  # fmt: skip
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"events are not numbered without gaps: {numbers}"
    open_tries = job.tries.filter(outcome="").count()
    if open_tries:
        yield f"{open_tries} attempts are still going on"


def of_compactions(session: Session, job: Job, scenario: dict[str, Any]) -> Iterator[str]:
    made = list(Entry.objects.filter(window__session=session, type="compaction"))
    records = CompactionRecord.objects.filter(session=session, outcome="compacted")
    expected = 1 if scenario["work"] == "compaction" or scenario.get("race") else 0
    if len(made) != expected and not (scenario.get("race") and len(made) == 2):
        yield f"{len(made)} compaction entries"
    if sorted(one.entry_id for one in made) != sorted(r.entry_id for r in records):
        yield "entries and records disagree"
    if [r.cycle for r in records.order_by("cycle")] != list(range(len(made))):
        yield "a cycle was compacted twice"
    count = (session.index_entry or {}).get("compactionCount", 0)
    if count != len(made):
        yield f"the counter says {count} compactions, there are {len(made)}"


def of_flushes(session: Session, job: Job, scenario: dict[str, Any]) -> Iterator[str]:
    notes = list(MemoryNote.objects.filter(session=session))
    written = FlushRecord.objects.filter(session=session, outcome="written")
    expected = 1 if scenario["work"] == "flush" or scenario.get("race") else 0
    if len(notes) != expected:
        yield f"{len(notes)} notes"
    if written.count() != expected:
        yield f"{written.count()} flushes were recorded"
    if expected and (session.index_entry or {}).get("memoryFlushCompactionCount") is None:
        yield "the flush is not counted"
    for note in notes:
        folder = settings.MEMORY_FOLDER
        texts = [p.read_text() for p in Path(folder).rglob("*.md")] if folder else []
        if folder and sum(text.count(note.text.splitlines()[0]) for text in texts) != 1:
            yield "the note is not in the folder once"


def wait_for_life(count: int) -> None:
    """The first scenario is not to pay for the start of its workers."""
    until = time.monotonic() + START_SECONDS
    while WorkerHeartbeat.objects.count() < count:
        if time.monotonic() > until:
            raise RuntimeError(f"{count} workers did not start within {START_SECONDS:.0f} s")
        time.sleep(0.1)


@contextmanager
def workers_running(count: int) -> Iterator[Workers]:
    workers = Workers(count)
    workers.ensure()
    try:
        wait_for_life(count)
        yield workers
    finally:
        workers.end()


def main() -> None:
    scenarios = json.loads(sys.stdin.read())
    if any(s.get("act") == "broker" for s in scenarios):
        BROKER.start()
    if not settings.REDIS_URL:
        from contextlab import broker

        broker.create(settings.CELERY_BROKER_FOLDER)
    call_command("migrate", verbosity=0)
    jobs.WAITED = jobs.RESEND = jobs.RESEND_IN_LINE = timedelta(seconds=1.2)
    with workers_running(2 if any(s.get("race") for s in scenarios) else 1) as workers:
        for scenario in scenarios:
            print(json.dumps(run(scenario, workers)), flush=True)
    connection.close()


if __name__ == "__main__":
    main()
