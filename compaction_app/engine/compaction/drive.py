"""Runs a compaction to its end: answers what its rules ask for with the means it is given.

Jobs, replays and tests differ only in the means: whether a wait sleeps, which summariser answers,
where files of the workspace come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    Credentials,
    CredentialsAnswer,
    ModelAnswer,
    ModelCall,
    ParallelCalls,
    ProviderCall,
    Request,
    Result,
    Steps,
    Wait,
)

MIDDLE = 0.5


def skipped(wait: Wait) -> int:
    """Does not wait; the milliseconds it would have taken without luck or bad luck."""
    return wait.lasting(MIDDLE)


@dataclass(frozen=True, slots=True)
class Means:
    """What a compaction may use.

    ``summarise`` answers model calls; an exception of it becomes a :class:`Failure` of the same name,
    so that the rules decide what follows. ``at_once`` answers calls that the runtime makes at the same
    time, in their order; without it they are made one after the other. ``wait`` may sleep and says how many milliseconds it took.
    ``before`` is told of each request before it is answered; what it raises ends the compaction.
    ``files`` are the texts of the workspace's files by name, ``providers`` the registered ones.
    """

    summarise: Callable[[ModelCall], ModelAnswer]
    at_once: Callable[[Sequence[ModelCall]], tuple[ModelAnswer, ...]] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    wait: Callable[[Wait], int] = skipped
    providers: Mapping[str, Callable[[ProviderCall], Any]] = field(default_factory=dict)
    before: Callable[[Request], None] = lambda request: None
    credentials: CredentialsAnswer = field(default_factory=lambda: CredentialsAnswer(has_key=True))


def drive(steps: Steps[Result], means: Means) -> Result:
    """The result of the rules, after every request was answered in its turn."""
    answer: Any = None
    try:
        while True:
            request = steps.send(answer)
            means.before(request)
            answer = answer_by(means, request)
    except StopIteration as end:
        result: Result = end.value
        return result


def answer_by(means: Means, request: Request) -> Any:
    """The answer to one request."""
    match request:
        case ModelCall():
            return _asked(means.summarise, request)
        case ParallelCalls():
            return _asked_together(request.calls, means)
        case ProviderCall():
            provider = means.providers.get(request.provider)
            return NOT_REGISTERED if provider is None else _asked(provider, request)
        case Wait():
            return means.wait(request)
        case Credentials():
            return means.credentials
    return means.files.get(request.name)


def _asked_together(calls: Sequence[ModelCall], means: Means) -> tuple[ModelAnswer, ...]:
    """Each is told of when it begins."""
    if means.at_once is None:
        return tuple(_one_of(call, means) for call in calls)
    for call in calls:
        means.before(call)
    return means.at_once(calls)


def _one_of(call: ModelCall, means: Means) -> ModelAnswer:
    means.before(call)
    answer: ModelAnswer = _asked(means.summarise, call)
    return answer


def _asked(who: Callable[[Any], Any], request: ModelCall | ProviderCall) -> Any:
    try:
        return who(request)
    except Exception as error:  # whoever is asked is foreign code: any failure is its answer
        return Failure(type(error).__name__, str(error))
