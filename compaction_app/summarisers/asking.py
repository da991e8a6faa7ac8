"""Asking a model over HTTP: tries, pauses between them, and giving up when nobody waits any more.

Tried again are 429, 5xx, timeouts and broken connections; every other refusal is final. The rules of
a compaction retry on top of this as the runtime does (``engine/compaction/retry.py``).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeVar

import structlog

from compaction_app.engine.compaction.failures import TIMEOUT_NAME, Failure
from compaction_app.summarisers.chat import (
    BrokenOff,
    ChatModel,
    ChatReply,
    ChatRequest,
    Endpoint,
    OnText,
    Stopped,
)

TRIES = 3
FIRST_PAUSE_MS = 500
LONGEST_PAUSE_MS = 20_000
POLL_SECONDS = 0.1
ERROR_CHARS = 500
TOO_MANY, FIRST_SERVER_ERROR = 429, 500

TryOutcome = Literal["answered", "retried", "gave_up", "refused", "stopped"]
Result = TypeVar("Result")
log = structlog.get_logger("contextlab.summarisers")


@dataclass(frozen=True, slots=True)
class Try:
    """One request: how it ended, the server's status if it gave one, the pause in ms that followed."""

    number: int
    outcome: TryOutcome
    seconds: float
    status: int | None = None
    error: str | None = None
    delay_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a call: the answer or the failure, every try, and what it cost in US dollars."""

    answer: ChatReply | Failure
    tries: tuple[Try, ...]
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A try that failed, as far as it matters for what follows."""

    name: str
    message: str
    again: bool
    status: int | None = None
    wait_ms: int | None = None


def ask(
    model: ChatModel,
    request: ChatRequest,
    stopped: Stopped = lambda: None,
    on_text: OnText = lambda piece: None,
) -> Asked:
    """The model's answer, after up to three tries; ``stopped`` ends it within a tenth of a second."""
    tries: list[Try] = []
    while True:
        began = time.monotonic()
        result = asyncio.run(_until_stopped(_one(model, request, on_text), stopped))
        seconds, number = round(time.monotonic() - began, 3), len(tries) + 1
        if isinstance(result, ChatReply):
            done = Try(number, "answered", seconds)
            return Asked(result, (*tries, done), model.endpoint.cost(result.usage))
        if isinstance(result, Failure):
            return Asked(result, (*tries, Try(number, "stopped", seconds, None, result.message)))
        final = not result.again or number == TRIES
        pause = None if final else _pause_ms(number, result.wait_ms)
        outcome: TryOutcome = "retried"
        if final:
            outcome = "gave_up" if result.again else "refused"
        tries.append(Try(number, outcome, seconds, result.status, result.message, pause))
        log.info("model call failed", model=model.name, outcome=outcome, status=result.status)
        if pause is None:
            return Asked(Failure(result.name, result.message), tuple(tries))
        if failure := asyncio.run(_until_stopped(asyncio.sleep(pause / 1000), stopped)):
            return Asked(failure, tuple(tries))


async def _one(model: ChatModel, request: ChatRequest, on_text: OnText) -> ChatReply | _Trouble:
    try:
        return await model.answer(request, on_text)
    except Exception as error:  # a server's rubbish can make a client library raise anything
        return _trouble_of(error, model.endpoint)


async def _until_stopped(
    work: Coroutine[Any, Any, Result], stopped: Callable[[], Failure | None]
) -> Result | Failure:
    """The result of ``work``, or the reason why it was broken off; its connection is closed then."""
    task = asyncio.ensure_future(work)
    while True:
        done, _ = await asyncio.wait({task}, timeout=POLL_SECONDS)
        if done:
            return task.result()
        if failure := stopped():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            return failure


def _trouble_of(error: Exception, endpoint: Endpoint) -> _Trouble:
    """Both client libraries come out of one generator: their errors have the same names and parts.

    One of them lets errors of the HTTP library through while it streams.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    said = _without_key(str(error) or type(error).__name__, endpoint)
    if names & {"APITimeoutError", "TimeoutException"}:
        return _Trouble(TIMEOUT_NAME, f"request timed out: {said}", again=True)
    if names & {"APIConnectionError", "TransportError"}:
        cause = f"{said} ({type(error.__cause__).__name__})" if error.__cause__ else said
        return _Trouble("APIConnectionError", cause, again=True)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        again = status == TOO_MANY or status >= FIRST_SERVER_ERROR
        headers = getattr(getattr(error, "response", None), "headers", {})
        return _Trouble("APIStatusError", said, again, status, _wanted_pause_ms(headers))
    if isinstance(error, BrokenOff):
        return _Trouble("BrokenAnswer", said, error.again)
    return _Trouble(type(error).__name__, f"the answer cannot be read: {said}", again=False)


def _without_key(text: str, endpoint: Endpoint) -> str:
    """A server may quote the key that it refuses."""
    if endpoint.key:
        text = text.replace(endpoint.key, "[key]")
    return text[:ERROR_CHARS]


def _wanted_pause_ms(headers: Mapping[str, str]) -> int | None:
    """What ``Retry-After`` asks for in seconds; a date is not looked at."""
    wanted = headers.get("retry-after", "").strip()
    return int(wanted) * 1000 if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 else None


def _pause_ms(number: int, wanted: int | None) -> int:
    """Half a second, doubled with every try, a little more or less by chance; longer if asked for."""
    grown = FIRST_PAUSE_MS * 2 ** (number - 1) * random.uniform(0.8, 1.2)
    return int(min(max(grown, wanted or 0), LONGEST_PAUSE_MS))
