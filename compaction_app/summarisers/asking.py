"""Asking a model over HTTP: tries, pauses between them, and giving up when nobody waits any more.

Tried again are 429, 5xx, timeouts and broken connections; every other refusal is final. The rules of
a compaction retry on top of this as the runtime does (``engine/compaction/retry.py``).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeVar

import structlog

from compaction_app.engine.compaction.failures import Failure
from compaction_app.summarisers.chat import (
    ChatModel,
    ChatReply,
    ChatRequest,
    OnText,
    Stopped,
)
from compaction_app.summarisers.trouble import Trouble, trouble_of

TRIES = 3
FIRST_PAUSE_MS = 500
LONGEST_PAUSE_MS = 20_000
POLL_SECONDS = 0.1

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
    """What came of a call: the answer or the failure, every try, and what it cost in US dollars.

    ``advice``: of a failure which model it was, where, and what to do; "" where nobody waited for it.
    """

    answer: ChatReply | Failure
    tries: tuple[Try, ...]
    cost: Decimal | None = None
    advice: str = ""


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
            failure = Failure(result.name, result.message)
            return Asked(failure, tuple(tries), advice=result.advice)
        if ended := asyncio.run(_until_stopped(asyncio.sleep(pause / 1000), stopped)):
            return Asked(ended, tuple(tries))


async def _one(model: ChatModel, request: ChatRequest, on_text: OnText) -> ChatReply | Trouble:
    try:
        return await model.answer(request, on_text)
    except Exception as error:  # a server's rubbish can make a client library raise anything
        return trouble_of(error, model.endpoint)


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


def _pause_ms(number: int, wanted: int | None) -> int:
    """Half a second, doubled with every try, a little more or less by chance; longer if asked for."""
    grown = FIRST_PAUSE_MS * 2 ** (number - 1) * random.uniform(0.8, 1.2)
    return int(min(max(grown, wanted or 0), LONGEST_PAUSE_MS))
