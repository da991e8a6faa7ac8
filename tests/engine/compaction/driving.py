"""Plays a summarising model for the rules under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    Credentials,
    CredentialsAnswer,
    ModelCall,
    ParallelCalls,
    ProviderCall,
    Request,
    Steps,
    Wait,
)

ERROR = Failure("Error", "boom")
ABORT = Failure("AbortError", "This operation was aborted")
TIMEOUT = Failure("TimeoutError", "request timed out")


class Model:
    """Answers call n with entry n, from the last one on for ever; keeps all requests."""

    def __init__(self, *answers: str | Failure | None, provider: Any = NOT_REGISTERED) -> None:
        self.answers: Sequence[Any] = answers or ("S",)
        self.provider = provider
        self.agents_md: str | None = None
        self.credentials = CredentialsAnswer(has_key=True)
        self.requests: list[Request] = []

    @property
    def calls(self) -> list[ModelCall]:
        return [request for request in self.requests if isinstance(request, ModelCall)]

    def run(self, steps: Steps[Any]) -> Any:
        answer: Any = None
        try:
            while True:
                answer = self._answer(steps.send(answer))
        except StopIteration as end:
            return end.value

    def _answer(self, request: Request) -> Any:
        if isinstance(request, ParallelCalls):
            return tuple(map(self._answer, request.calls))
        self.requests.append(request)
        if isinstance(request, ModelCall):
            return self.answers[min(len(self.calls), len(self.answers)) - 1]
        if isinstance(request, Wait):
            return request.lasting(0.5)
        if isinstance(request, ProviderCall):
            return self.provider
        return self.credentials if isinstance(request, Credentials) else self.agents_md


def user(text: str = "hello there") -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str = "fine", *calls: str, stop: str = "stop") -> dict[str, Any]:
    blocks: list[Any] = [{"type": "text", "text": text}]
    blocks += [{"type": "toolCall", "id": c, "name": "exec", "arguments": {}} for c in calls]
    return {"role": "assistant", "content": blocks, "stopReason": stop}


def result(call: str, text: str = "ok", **fields: Any) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call,
        "toolName": "exec",
        "content": [{"type": "text", "text": text}],
        **fields,
    }


def branch(messages: Iterable[Any], name: Callable[[int], str] = "e{}".format) -> list[Any]:
    """Message entries in a row, each the child of the one before."""
    entries: list[Any] = []
    for number, message in enumerate(messages):
        entries.append(
            {
                "type": "message",
                "id": name(number),
                "parentId": entries[-1]["id"] if entries else None,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": message,
            }
        )
    return entries
