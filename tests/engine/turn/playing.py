"""Turns played against answers made up on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from compaction_app.engine.circumstances import Circumstances, Path
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, RuleSet
from compaction_app.engine.turn.record import TurnResult
from compaction_app.engine.turn.requests import (
    Compaction,
    KnownSummary,
    ModelAnswer,
    ModelCall,
    Moment,
    Steps,
)
from compaction_app.engine.turn.setup import RunSetup, SystemSizes, run_setup
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.turn import run_turn
from compaction_app.engine.turn.work import TurnPrompt

Answering = Callable[[ModelCall], ModelAnswer | None]
START_MS = 1_796_086_800_000


def setup_of(
    *,
    window: int = 32_000,
    path: Path = "chat",
    rules: RuleSet = OPENCLAW_2026_5_28,
    system_chars: int = 0,
    **settings: Any,
) -> RunSetup:
    """A setup with the settings given by key, dots as underscores twice (``compaction__mode``)."""
    changes = {key.replace("__", "."): value for key, value in settings.items()}
    policy = with_changes(Policy(), {"contextWindow": window, **changes})
    around = Circumstances(path=path, provider="mock", model="m", rules=rules)
    ids = (f"{number:08x}" for number in count(1))
    return run_setup(policy, around, SystemSizes(system_chars), ids)


def prompt(text: str, **more: Any) -> TurnPrompt:
    message = {"role": "user", "content": text}
    return TurnPrompt(message, sent=more.pop("sent", text), judged=text, **more)


def answer(text: str = "Fine.", sent: int = 0, said: int = 0, **more: Any) -> dict[str, Any]:
    """An assistant's message that bills ``sent`` and ``said`` tokens."""
    usage = {"input": sent, "output": said, "cacheRead": 0, "cacheWrite": 0, "totalTokens": sent + said}  # fmt: skip
    content = [{"type": "text", "text": text}]
    base = {"role": "assistant", "content": content, "stopReason": "stop", "usage": usage}
    return {**base, "provider": "mock", "model": "m", **more}


def calling(call_id: str = "c1", name: str = "exec", **more: Any) -> dict[str, Any]:
    """An answer that calls a tool."""
    block = {"type": "toolCall", "id": call_id, "name": name, "arguments": {"command": "ls"}}
    return {**answer(stopReason="toolUse", **more), "content": [block]}


def result(text: str, call_id: str = "c1", name: str = "exec") -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [{"type": "text", "text": text}],
        "isError": False,
    }


def scripted(answers: Iterable[ModelAnswer | Mapping[str, Any]]) -> Answering:
    """The answers one after the other, and then none."""
    left = iter(answers)

    def give(call: ModelCall) -> ModelAnswer | None:
        given = next(left, None)
        return given if given is None or isinstance(given, ModelAnswer) else ModelAnswer(given)

    return give


def play(
    steps: Steps[TurnResult], answering: Answering, summary: str = "A summary.", step_ms: int = 1
) -> TurnResult:
    """Answer everything a turn asks; each moment is ``step_ms`` later than the one before."""
    clock = count(START_MS, step_ms)
    request = None
    try:
        request = next(steps)
        while True:
            match request:
                case Moment():
                    request = steps.send(next(clock))
                case ModelCall():
                    request = steps.send(answering(request))
                case Compaction():
                    request = steps.send(KnownSummary(summary))
                case _:
                    raise AssertionError(request)
    except StopIteration as stop:
        done: TurnResult = stop.value
        return done


def turn(
    setup: RunSetup, state: SessionState, text: str, *answers: ModelAnswer | Mapping[str, Any]
) -> TurnResult:
    """One turn whose calls get these answers."""
    return play(run_turn(setup, state, prompt(text)), scripted(answers))
