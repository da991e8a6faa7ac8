"""Programs of ours as child processes, with their output and an environment of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

from contextlab.process import die_with_parent
from tests.services.conftest import wait_until

ROOT = Path(__file__).resolve().parents[2]
OURS = re.compile(r"^(HOST|PORT|SECRET_KEY|DEBUG|DATABASE_URL|REDIS_URL|DATA_DIR|TIKTOKEN_.*)$")


def environment(data: Path, **more: str) -> dict[str, str]:
    """This process's environment without our settings, but with these. The vocabularies are shared."""
    clean = {name: value for name, value in os.environ.items() if not OURS.match(name)}
    shared = {"TIKTOKEN_CACHE_DIR": str(Path(tempfile.gettempdir()) / "contextlab-tests-tiktoken")}
    return clean | shared | {"DATA_DIR": str(data), "PYTHONUNBUFFERED": "1"} | more


class Program:
    """A running program; it is killed at the end of the ``with`` block if it still runs."""

    def __init__(self, arguments: list[str], data: Path, **settings: str) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self.log = data / f"{Path(arguments[0]).name}.{os.urandom(3).hex()}.log"
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment(data, **settings),
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def output(self) -> str:
        return self.log.read_text()

    def wait_for(self, pattern: str, seconds: float = 40.0) -> re.Match[str]:
        """The first place in the output that matches; fails early when the program has ended."""

        def found() -> bool:
            assert self.process.poll() is None or re.search(pattern, self.output()), self.output()
            return re.search(pattern, self.output()) is not None

        wait_until(found, f"{pattern!r} in:\n{self.output()}", seconds)
        match = re.search(pattern, self.output())
        assert match is not None
        return match

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


def children(pid: int) -> list[int]:
    """The processes that ``pid`` started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = entry.read_text().rpartition(")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid:
            found.append(int(entry.parent.name))
    return found


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    below = children(pid)
    for child in below:  # grows while it is walked
        below.extend(children(child))
    return below


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
