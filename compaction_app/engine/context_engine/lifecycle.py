"""What the host calls of a context engine around a turn (spec compaction 6).

The default engine takes no part in this. Failures are warnings: a turn goes on without its engine.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from compaction_app.engine.context_engine.contract import EngineFailure
from sessions_app.tokens.message_tokens import is_runtime_context

Message = Mapping[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class HostCall:
    """Call a method with these of its parameters; the session's own are added by whoever calls.

    Answer: its result, or an EngineFailure.
    """

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Let the engine tidy up. ``reason``: ``bootstrap``, ``turn`` or ``compaction``."""

    reason: str


Steps = Generator[HostCall | Maintenance, Any, Result]


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended: its messages, how many there were before the prompt, and what went wrong."""

    messages: Sequence[Message]
    messages_before_prompt: int
    prompt_failed: bool = False
    aborted: bool = False
    yield_aborted: bool = False


@dataclass(frozen=True, slots=True)
class Finalised:
    succeeded: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """The messages for the model: the engine's, or those it was given when it failed."""

    messages: Sequence[Message]
    addition: str | None
    warnings: tuple[str, ...]


def bootstrap(methods: Set[str], *, had_session_file: bool) -> Steps[Finalised]:
    """Before the first turn on an existing session."""
    if not had_session_file:
        return Finalised(True, ())
    if "bootstrap" in methods:
        failure = yield HostCall("bootstrap", {})
        if isinstance(failure, EngineFailure):
            return Finalised(False, (_warning("bootstrap", failure),))
    yield Maintenance("bootstrap")
    return Finalised(True, ())


def assemble(messages: Sequence[Message], prompt: str) -> Steps[AssembledContext]:
    """Before a model call: the engine sees no runtime context and may replace the messages."""
    visible = _visible(messages)
    answer = yield HostCall("assemble", {"messages": visible, "prompt": prompt})
    if isinstance(answer, EngineFailure):
        return AssembledContext(messages, None, (_warning("assemble", answer),))
    return AssembledContext(answer["messages"], answer.get("systemPromptAddition"), ())


def finish_turn(methods: Set[str], turn: TurnEnd) -> Steps[Finalised]:
    """After a turn: one call for all of it, else the new messages, else each of them."""
    visible = _visible(turn.messages)
    before = len(_visible(turn.messages[: turn.messages_before_prompt]))
    warnings: list[str] = []
    for call in _turn_calls(methods, visible, before):
        answer = yield call
        if isinstance(answer, EngineFailure):
            warnings.append(_warning(call.method, answer))
    disturbed = turn.prompt_failed or turn.aborted or turn.yield_aborted
    if not disturbed and not warnings:
        yield Maintenance("turn")
    return Finalised(not warnings, tuple(warnings))


def _turn_calls(methods: Set[str], visible: Sequence[Message], before: int) -> list[HostCall]:
    if "afterTurn" in methods:
        return [HostCall("afterTurn", {"messages": visible, "prePromptMessageCount": before})]
    new = visible[before:]
    if "ingestBatch" in methods:
        return [HostCall("ingestBatch", {"messages": new})] if new else []
    return [HostCall("ingest", {"message": message}) for message in new]


def _visible(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if not is_runtime_context(message)]


def _warning(method: str, failure: EngineFailure) -> str:
    return f"context engine {method} failed: {failure.name}: {failure.message}"
