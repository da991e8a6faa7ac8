"""How often, and after what pause, a failed model call is tried again (spec compaction 1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.compaction.failures import (
    Failure,
    FailureKind,
    FailureRules,
    failure_kind,
)
from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall, Steps, Wait

MAX_ATTEMPTS = 3
MIN_DELAY_MS = 500
MAX_DELAY_MS = 5000
JITTER = 0.2

AttemptOutcome = Literal["answered", "retried", "gave_up", "aborted", "timed_out"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call: what came of it, the error if any, the pause in ms that followed."""

    number: int
    outcome: AttemptOutcome
    error: str | None = None
    delay_ms: int | None = None


def call_with_retries(
    call: ModelCall, rules: FailureRules
) -> Steps[tuple[ModelAnswer, tuple[Attempt, ...]]]:
    """Make the call up to three times; the last answer or failure, and the record of the attempts."""
    attempts: list[Attempt] = []
    while True:
        number = len(attempts) + 1
        answer: ModelAnswer = yield call
        if not isinstance(answer, Failure):
            return answer, (*attempts, Attempt(number, "answered"))
        stop = last_outcome(answer, rules)
        if stop != "gave_up" or number == MAX_ATTEMPTS:
            return answer, (*attempts, Attempt(number, stop, answer.message))
        base = min(MIN_DELAY_MS * 2 ** (number - 1), MAX_DELAY_MS)
        waited: int = yield Wait(base, JITTER, MIN_DELAY_MS, MAX_DELAY_MS)
        attempts.append(Attempt(number, "retried", answer.message, waited))


def last_outcome(failure: Failure, rules: FailureRules) -> AttemptOutcome:
    """What an attempt that nothing follows is called."""
    outcomes: dict[FailureKind, AttemptOutcome] = {"abort": "aborted", "timeout": "timed_out"}
    return outcomes.get(failure_kind(failure, rules), "gave_up")
