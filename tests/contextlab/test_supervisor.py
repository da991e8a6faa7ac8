"""Children run until the supervisor is told to stop, and then none is left."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from contextlab import supervisor
from contextlab.supervisor import Child, Supervisor

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def is_alive(pid: int) -> bool:
    """Whether it still runs after the moment that the kernel needs to end it."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


def run(commands: dict[str, list[str]], ready: Callable[[Supervisor], bool]) -> list[str]:
    """What a supervisor said that stopped as soon as ``ready``."""
    said: list[str] = []
    one = Supervisor(commands, said.append)
    one.run(lambda: ready(one), lambda: os.kill(os.getpid(), signal.SIGTERM))
    return said


def test_nothing_is_left_after_the_signal() -> None:
    pids: list[int] = []

    def started(one: Supervisor) -> bool:
        pids[:] = [child.process.pid for child in one.children if child.process]
        return len(pids) == 2

    assert run({"one": SLEEP, "two": SLEEP}, started) == ["stopping"]
    assert not any(is_alive(pid) for pid in pids)


def test_a_dead_child_is_started_again_and_said_so(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    script = f"open({str(starts)!r}, 'a').write('x'); raise SystemExit(3)"

    def twice(_: Supervisor) -> bool:
        return starts.exists() and len(starts.read_text()) == 2

    said = run({"job": [sys.executable, "-c", script]}, twice)
    assert said[0] == "job died (exit 3); restarting in 1 s"


def test_a_child_that_keeps_dying_is_given_more_and_more_time() -> None:
    child = Child("job", [])
    pauses = []
    for child.deaths in range(1, 9):
        pauses.append(child.pause())
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_child_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.3)
    deaf = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )
    started = time.monotonic()

    def ready(one: Supervisor) -> bool:
        return time.monotonic() - started > 0.5

    run({"deaf": [sys.executable, "-c", deaf]}, ready)
    assert time.monotonic() - started < 10


def test_what_a_child_started_ends_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid) + ' ')\n"
        "time.sleep(60)"
    )
    run(
        {"job": [sys.executable, "-c", script]}, lambda _: note.exists() and " " in note.read_text()
    )
    assert not is_alive(int(note.read_text()))


def test_the_handlers_of_before_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    run({"one": SLEEP}, lambda _: True)
    assert signal.getsignal(signal.SIGTERM) is before
