"""Processes of a worker that are killed while they have nothing to do: the work goes on all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextlab import worker_watch
from contextlab.management.commands.up import WORKER
from contextlab.worker_watch import PoolWatch
from tests.services.conftest import wait_until
from tests.services.processes import Program, children, descendants, is_running
from tests.services.test_worker import migrated

RAN = r"task succeeded .*task=sessions_app\.tasks\.count_live_sessions"


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[tuple[Program, int, int]]:
    """A worker that has done something, its scheduler, and the one process of its pool."""
    migrated(tmp_path, {})
    arguments = [*WORKER, "-I", "tests.services.quick_watch"]
    with Program(arguments[2:], tmp_path, WORKER_PROCESSES="1") as program:
        program.wait_for(RAN, seconds=90)
        below = children(program.process.pid)
        reading = [pid for pid in below if _waits_for_work(pid)]
        assert len(below) == 2 and len(reading) == 1, (
            "a scheduler and a process that waits for work"
        )
        (scheduler,) = set(below) - set(reading)
        yield program, scheduler, reading[0]


def _waits_for_work(pid: int) -> bool:
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text()


@pytest.mark.service
@pytest.mark.timeout(180)
def test_a_scheduler_that_was_killed_is_started_again(worker: tuple[Program, int, int]) -> None:
    program, scheduler, _ = worker
    os.kill(scheduler, signal.SIGKILL)
    program.wait_for("the scheduler has died and is started again")
    ran = program.output().count("task succeeded")
    wait_until(lambda: program.output().count("task succeeded") > ran, "a scheduled task", 60)
    below = descendants(program.process.pid)
    program.end()
    assert not any(is_running(pid) for pid in below), "all of it ends with the worker"


@pytest.mark.service
@pytest.mark.timeout(180)
def test_a_worker_whose_pool_takes_nothing_any_more_ends(worker: tuple[Program, int, int]) -> None:
    """Whoever keeps it running starts it again; alive and deaf it would look ready for ever."""
    program, _, waits = worker
    os.kill(waits, signal.SIGKILL)
    program.wait_for("the pool takes no work any more", seconds=60)
    assert program.process.wait(timeout=30) == 1


def test_a_pool_is_stuck_when_work_waits_for_free_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_watch, "STUCK_SECONDS", 30.0)
    watch = PoolWatch()
    looks = [(1, 1, 0), (1, 1, 20), (0, 2, 25), (1, 1, 40), (3, 0, 60), (1, 1, 80), (1, 1, 109)]
    assert not any(watch.is_stuck(waiting, free, now) for waiting, free, now in looks)
    assert watch.is_stuck(1, 1, 110)
