"""How often, and after what pause, a failed model call is tried again (spec compaction 1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.compaction.failures import Failure, FailureRules, failure_kind
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
        stop = _stops(answer, number, rules)
        if stop is not None:
            return answer, (*attempts, Attempt(number, stop, answer.message))
        base = min(MIN_DELAY_MS * 2 ** (number - 1), MAX_DELAY_MS)
        waited: int = yield Wait(base, JITTER, MIN_DELAY_MS, MAX_DELAY_MS)
        attempts.append(Attempt(number, "retried", answer.message, waited))


def _stops(failure: Failure, number: int, rules: FailureRules) -> AttemptOutcome | None:
    kind = failure_kind(failure, rules)
    if kind != "error":
        return "aborted" if kind == "abort" else "timed_out"
    return "gave_up" if number == MAX_ATTEMPTS else None
