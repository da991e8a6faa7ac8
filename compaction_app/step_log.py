"""The steps of a compaction or flush as they happen: progress, log lines, what each model call did."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from compaction_app.call_log import CallLog, CallRow
from compaction_app.engine.compaction.failures import (
    ABORT_MESSAGE,
    ABORT_NAME,
    TIMEOUT_NAME,
    Failure,
)
from compaction_app.engine.compaction.requests import Wait
from sessions_app.models import JobLine
from sessions_app.working import Hold

WAIT_SLICE_SECONDS = 0.1

AfterStep = Callable[[str], None]
_after_step: list[AfterStep] = []


def after_each_step(hook: AfterStep) -> None:
    """Tell ``hook`` the name of every step once it is done, as fault tests want it."""
    _after_step.append(hook)


class TookTooLong(Exception):
    """The time that a compaction may take is over."""


class StepLog:
    """What a job has done so far, told to its row, and kept for the record.

    ``timeout_ms`` counts from now. A cancelled or lost job ends at the next step, and so does one whose
    time is over.
    """

    def __init__(self, hold: Hold, timeout_ms: float) -> None:
        self.hold = hold
        self.started_at: datetime = timezone.now()
        self.calls = CallLog()
        self._advised: set[str] = set()
        self._ends = time.monotonic() + timeout_ms / 1000

    def step(self, name: str, text: str, done: int = 0, total: int = 0) -> None:
        """A step is done: shown as progress and in the log."""
        self.check()
        self.hold.progress(done, total, text)
        self.hold.note(text)
        self.point(name)

    def point(self, name: str) -> None:
        """A step inside a transaction, where nothing is told that might be rolled back."""
        for hook in _after_step:
            hook(name)

    def warn(self, text: str) -> None:
        self.hold.note(text, JobLine.Level.WARNING)

    def advise(self, row: CallRow) -> None:
        """Tell the log, once, what is to be done about a call that failed."""
        if (advice := row.get("advice", "")) and advice not in self._advised:
            self._advised.add(advice)
            self.warn(f"call {row['number']}: {advice}")

    def check(self) -> None:
        """Raises ``Stopped`` or :class:`TookTooLong` when the job is not to go on."""
        self.hold.check()
        if time.monotonic() > self._ends:
            raise TookTooLong

    def stopped(self) -> Failure | None:
        """For whoever waits for a model: why nobody waits any more. Looks at nothing but memory."""
        if self.hold.stop is not None:
            return Failure(ABORT_NAME, ABORT_MESSAGE)
        if time.monotonic() > self._ends:
            return Failure(TIMEOUT_NAME, "request timed out: the time of the job is over")
        return None

    def abandon(self) -> None:
        """Nobody waits for what is being asked any more: the job ends before its calls do."""
        self._ends = 0.0

    def wait(self, wait: Wait) -> int:
        """Sleep before a retry, unless the job stops; how many milliseconds it was to be."""
        pause = wait.lasting(random.random())
        self.hold.note(f"waits {pause / 1000:.1f} s before the next attempt")
        until = time.monotonic() + pause / 1000
        while (left := until - time.monotonic()) > 0 and self.stopped() is None:
            time.sleep(min(left, WAIT_SLICE_SECONDS))
        return pause
