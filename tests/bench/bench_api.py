"""The API under a real server: appends against a bare endpoint, long sessions against short ones, and how
late the last of a hundred answers comes while workers compact."""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from threading import local
from typing import Any

from contextlab.management.commands.up import WEB, WORKER
from tests.bench.append_cost import TEXT
from tests.services.conftest import free_port
from tests.services.processes import Program

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.bench.bare.settings",
    "API_CALLS_PER_MINUTE": "1000000",
}
ROUNDS, CALLS = 12, 60
SIZE_ROUNDS = 60
RATE, SECONDS = 50, 20
CLIENTS = 8
KEPT_SECONDS = 3
"""The server closes a connection that was idle for 5 s."""

MESSAGE = {"role": "user", "content": TEXT}
RATIO_GOAL, SIZE_GOAL, LATE_GOAL = 0.5, 1.5, 10.0


@dataclass
class Site:
    """A client of the server; each thread has a connection of its own, which is kept open."""

    port: int
    known: dict[str, Any]
    mine: local = field(default_factory=local)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        now, used = time.monotonic(), getattr(self.mine, "used", 0.0)
        if now - used > KEPT_SECONDS:
            self.mine.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.mine.used = now
        headers = {
            "Authorization": f"Bearer {self.known['token']}",
            "Content-Type": "application/json",
        }
        self.mine.connection.request("POST", path, json.dumps(body), headers)
        answer = self.mine.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise AssertionError(f"{path}: {answer.status} {text[:500]!r}")
        got: dict[str, Any] = json.loads(text)
        return got


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as site:
        return [*throughput(site), *by_size(site), late(site, Path(folder))]


@contextmanager
def served(data: Path) -> Iterator[Site]:
    def done(*arguments: str) -> str:
        with Program(list(arguments), data, **SETTINGS) as program:
            assert program.process.wait(600) == 0, program.output()
            return program.output()

    done("manage.py", "prepare")
    done("manage.py", "migrate", "--run-syncdb", "--no-input")
    known = json.loads(done("-m", "tests.bench.api_setup").splitlines()[-1])
    port = free_port()
    site = Site(port, known)
    web = [*WEB, "--host", "127.0.0.1", "--port", str(port)]
    with Program(web, data, **SETTINGS):
        deadline = time.monotonic() + 60
        while True:
            try:
                site.post(
                    f"/api/bare/sessions/{known['writers'][0]}/messages", {"messages": [MESSAGE]}
                )
                break
            except (OSError, http.client.HTTPException):
                assert time.monotonic() < deadline, "the server does not come up"
                site.mine.used = 0.0
                time.sleep(0.1)
        yield site


def throughput(site: Site) -> Iterator[dict[str, Any]]:
    """Both by turns, so that whatever else the machine does meets both alike."""
    writers = site.known["writers"]
    body = {"messages": [MESSAGE]}
    rates: dict[str, list[float]] = {"/api/bare": [], "/api/v1": []}
    with ThreadPoolExecutor(len(writers)) as pool:

        def second(base: str) -> float:
            began = time.perf_counter()
            paths = [f"{base}/sessions/{s}/messages" for s in writers] * (CALLS // len(writers))
            list(pool.map(lambda path: site.post(path, body), paths))
            return len(paths) / (time.perf_counter() - began)

        for number in range(ROUNDS + 1):
            for base, found in rates.items():
                found.append(second(base))
                if number == 0:
                    found.clear()  # the first round opens connections and loads code
    ratio = statistics.median(
        ours / bare for ours, bare in zip(rates["/api/v1"], rates["/api/bare"], strict=True)
    )
    bare, ours = (statistics.median(rates[base]) for base in ("/api/bare", "/api/v1"))
    yield {
        "name": "appends a second, against a bare endpoint that writes one row",
        "value": round(ratio, 2),
        "unit": "x",
        "goal": f">= {RATIO_GOAL} x",
        "ok": ratio >= RATIO_GOAL,
        "detail": f"{ours:.0f} and {bare:.0f} a second, {len(writers)} clients",
    }


def by_size(site: Site) -> Iterator[dict[str, Any]]:
    """Preparing and appending in a long session, against a short one with the same context."""
    works: dict[str, Callable[[str], Any]] = {
        "append": lambda s: site.post(f"/api/v1/sessions/{s}/messages", {"messages": [MESSAGE]}),
        "prepare": lambda s: site.post(f"/api/v1/sessions/{s}/prepare", {"prompt": MESSAGE}),
    }
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(SIZE_ROUNDS):
        for entries, session in site.known["sizes"].items():
            for name, work in works.items():
                began = time.perf_counter()
                work(session)
                spent = (time.perf_counter() - began) * 1000
                times.setdefault((name, entries), []).append(spent)
    sizes = sorted(site.known["sizes"], key=int)
    for name in works:
        short, long = (statistics.median(times[name, entries]) for entries in sizes)
        yield {
            "name": f"{name} by the API at {int(sizes[1]):,} entries against {int(sizes[0]):,}",
            "value": round(long / short, 2),
            "unit": "x",
            "goal": f"<= {SIZE_GOAL} x",
            "ok": long / short <= SIZE_GOAL,
            "detail": f"{long:.1f} ms and {short:.1f} ms, medians",
        }


def late(site: Site, data: Path) -> dict[str, Any]:
    """Fifty requests a second, on the clock whatever the server does, while its workers compact.

    A turn is a prepare and a reported call; its usage makes a compaction due every few turns.
    """
    turns = cycle(site.known["crowd"])
    spent: list[float] = []
    jobs: set[str] = set()
    failures: list[str] = []

    def timed(due: float, path: str, body: dict[str, Any]) -> None:
        try:
            got = site.post(path, body)
        except (AssertionError, OSError, http.client.HTTPException) as error:
            failures.append(repr(error)[:300])
            return
        spent.append((time.perf_counter() - due) * 1000)
        jobs.update(got.get("jobs") or [])

    worker = [*WORKER, "--concurrency", "1"]
    with Program(worker, data, **SETTINGS), ThreadPoolExecutor(CLIENTS * 4) as pool:
        time.sleep(5)  # the worker is there
        began = time.perf_counter()
        for number in range(RATE * SECONDS):
            due = began + number / RATE
            time.sleep(max(0.0, due - time.perf_counter()))
            session = next(turns) if number % 2 == 0 else session  # noqa: F821
            prompt = {"role": "user", "content": f"{number} {TEXT * 4}"}
            full = 25_000 if number // 40 % 3 == 2 else 4_000
            answer = {"role": "assistant", "content": "Yes.", "stopReason": "stop"}
            usage = {"input_tokens": full, "output_tokens": 4}
            call = {"messages": [prompt, answer], "usage": usage}
            if number % 2:
                pool.submit(timed, due, f"/api/v1/sessions/{session}/calls", call)
            else:
                pool.submit(timed, due, f"/api/v1/sessions/{session}/prepare", {"prompt": prompt})
    assert not failures, f"{len(failures)} requests failed, the first: {failures[0]}"
    assert jobs, "no compaction became due"
    median, last = statistics.median(spent), statistics.quantiles(spent, n=100)[98]
    return {
        "name": f"99th percentile of {RATE} requests a second while workers compact, against the median",
        "value": round(last / median, 2),
        "unit": "x",
        "goal": f"<= {LATE_GOAL} x",
        "ok": last / median <= LATE_GOAL,
        "detail": f"{last:.0f} ms and {median:.0f} ms, {len(jobs)} compactions",
    }
