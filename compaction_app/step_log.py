"""The steps of a compaction or flush as they happen: progress, log lines, what each model call did."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from compaction_app.engine.compaction.failures import (
    ABORT_MESSAGE,
    ABORT_NAME,
    TIMEOUT_NAME,
    Failure,
)
from compaction_app.engine.compaction.requests import Wait
from compaction_app.summarisers.asking import Asked
from sessions_app.models import JobLine
from sessions_app.rows import storable_json
from sessions_app.working import Hold

MAX_ANSWER_CHARS = 20_000
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
        self.calls: list[dict[str, Any]] = []
        self._ends = time.monotonic() + timeout_ms / 1000
        self._begun: float | None = None

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

    def wait(self, wait: Wait) -> int:
        """Sleep before a retry, unless the job stops; how many milliseconds it was to be."""
        pause = wait.lasting(random.random())
        self.hold.note(f"waits {pause / 1000:.1f} s before the next attempt")
        until = time.monotonic() + pause / 1000
        while (left := until - time.monotonic()) > 0 and self.stopped() is None:
            time.sleep(min(left, WAIT_SLICE_SECONDS))
        return pause

    def begin_call(self, what: Mapping[str, Any]) -> None:
        """A call of the model begins; ``what`` describes it in the record."""
        self.calls.append({"number": len(self.calls) + 1, **what})
        self._begun = time.monotonic()

    def asked(self, asked: Asked) -> None:
        """What the client of a model says of the call."""
        usage = getattr(asked.answer, "usage", None)
        self.calls[-1] |= {
            "tries": [
                {
                    "number": one.number,
                    "outcome": one.outcome,
                    "status": one.status,
                    "error": one.error,
                    "delayMs": one.delay_ms,
                    "seconds": one.seconds,
                }
                for one in asked.tries
            ],
            "promptTokens": usage.prompt if usage else None,
            "outputTokens": usage.output if usage else None,
            "cost": None if asked.cost is None else str(asked.cost),
        }

    def end_call(self, answer: str | Failure | None) -> None:
        """What came of it."""
        seconds = round(time.monotonic() - (self._begun or time.monotonic()), 3)
        if isinstance(answer, Failure):
            found: dict[str, Any] = {"error": {"name": answer.name, "message": answer.message}}
        else:
            text = answer or ""
            found = {"answerChars": len(text), "answer": text[:MAX_ANSWER_CHARS]}
        self.calls[-1] |= {"seconds": seconds, **found}

    def calls_json(self) -> list[Any]:
        stored: list[Any] = storable_json(self.calls)
        return stored

    def cost(self) -> Decimal | None:
        """US dollars of all calls; none where that of one is unknown, or there were none."""
        costs = [call.get("cost") for call in self.calls]
        if not costs or None in costs:
            return None
        return sum((Decimal(cost) for cost in costs if cost is not None), Decimal(0))
