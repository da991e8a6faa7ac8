"""Keeps child processes running until it is told to stop, and then ends them all."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from contextlab.process import die_with_parent

TICK_SECONDS = 0.1
GRACE_SECONDS = 5.0  # from the request to end until the kill
LONGEST_PAUSE = 30.0  # between two starts of a child that keeps dying
SETTLED_SECONDS = 60.0  # after this long alive, a child's earlier deaths are forgiven
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Child:
    """One process that must run; it is the head of its own process group."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.command = command
        self.deaths = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.since = 0.0  # started, or died, at this monotonic time

    def start(self) -> None:
        # A session of its own: Ctrl-C in the terminal reaches the supervisor alone.
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,  # safe: this process has one thread
        )
        self.since = time.monotonic()

    def pause(self) -> float:
        return min(2.0 ** (self.deaths - 1), LONGEST_PAUSE)

    def died(self) -> str | None:
        """How it ended, once per end."""
        if self.process is None or (status := self.process.poll()) is None:
            return None
        self.kill_group()
        if time.monotonic() - self.since > SETTLED_SECONDS:
            self.deaths = 0
        self.deaths += 1
        self.process, self.since = None, time.monotonic()
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit {status}"

    def is_due(self) -> bool:
        return self.process is None and time.monotonic() - self.since >= self.pause()

    def ask_to_end(self) -> None:
        if self.process is not None:
            self.process.terminate()

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill_group(self) -> None:
        """The process and whatever it started and did not take down itself."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Supervisor:
    """Starts the children, restarts the dead ones, ends them all on Ctrl-C, SIGTERM or SIGHUP."""

    def __init__(self, commands: Mapping[str, Sequence[str]], say: Callable[[str], None]) -> None:
        self.children = [Child(name, command) for name, command in commands.items()]
        self.say = say
        self.stops = 0

    def run(self, is_ready: Callable[[], bool], announce: Callable[[], None]) -> None:
        """Returns when it was told to stop and nothing runs any more.

        ``announce`` is called once, as soon as ``is_ready`` is true.
        """
        announced = False
        with self.catching_signals():
            try:
                for child in self.children:
                    child.start()
                while not self.stops:
                    self.restart_dead()
                    if not announced and is_ready():
                        announced = True
                        announce()
                    time.sleep(TICK_SECONDS)
                self.say("stopping")
            finally:
                self.end_all()

    def restart_dead(self) -> None:
        for child in self.children:
            if how := child.died():
                self.say(f"{child.name} died ({how}); restarting in {child.pause():.0f} s")
            elif child.is_due():
                child.start()

    def end_all(self) -> None:
        """Politely at first; by force after the grace time or at a second signal."""
        for child in self.children:
            child.ask_to_end()
        deadline = time.monotonic() + GRACE_SECONDS
        while (
            any(child.is_running() for child in self.children)
            and time.monotonic() < deadline
            and self.stops < 2
        ):
            time.sleep(TICK_SECONDS)
        for child in self.children:
            child.kill_group()

    @contextmanager
    def catching_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.note_stop) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def note_stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stops += 1
