"""A session made by running the engine's own turns against a scripted model and provider.

The provider bills characters of everything sent by a divisor, as the recorded runs' server did. Nothing
is drawn by chance and no clock is read: the same script gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.engine.session_policy import session_policy
from compaction_app.engine.simulation.recording import RecordedCall
from compaction_app.engine.simulation.usage import CallSituation, Scripted
from compaction_app.engine.turn.record import TurnResult
from compaction_app.engine.turn.requests import (
    Compaction,
    KnownSummary,
    ModelAnswer,
    ModelCall,
    Moment,
)
from compaction_app.engine.turn.setup import RunSetup, SystemSizes, run_setup
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.turn import run_turn
from compaction_app.engine.turn.work import TurnPrompt

Json = dict[str, Any]
RULES = OPENCLAW_2026_5_28
START_MS = 1_796_115_600_000  # 2026-12-01T09:00:00Z
WORDS = [
    "anchor",
    "basin",
    "beacon",
    "canyon",
    "cedar",
    "delta",
    "drift",
    "ember",
    "estuary",
    "fjord",
    "grove",
    "harbor",
    "inlet",
    "juniper",
    "kelp",
    "ledge",
    "meadow",
    "north",
    "orchard",
    "pebble",
    "quartz",
    "ridge",
    "slate",
    "tundra",
    "umber",
    "valley",
    "willow",
    "yarrow",
    "zephyr",
]
EXEC_LINE = 65
"""What a flush turn's system prompt lacks where the tool exec is known."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Characters of the system prompt and of the tools' schemas, and characters a billed token."""

    system: int
    tools: int
    flush_tools: int
    divisor: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: the stored total that it is to end with, or else the size of its prompt in characters;
    the size of its answer, and of a tool result that it reads first (0: no tool)."""

    total: int = 0
    prompt: int = 0
    answer: int = 1_200
    result: int = 0


def prose(seed: int, chars: int) -> str:
    """Filler of that many characters; another seed gives another text."""
    words: list[str] = []
    length, state = 0, seed * 7_919 + 1
    while length < chars + 12:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        word = WORDS[state // 65_536 % len(WORDS)]
        words.append(word + "." if len(words) % 12 == 11 else word)
        length += len(words[-1]) + 1
    text = " ".join(words)[:chars]
    return text[:-1] + "." if text.endswith(" ") else text


@dataclass(slots=True)
class Script:
    """The model and the provider of one session; ``summary`` is what a compaction is answered."""

    name: str
    sizes: Sizes
    turns: tuple[Turn, ...]
    summary: str
    window: int = 96_000

    def setup(self) -> RunSetup:
        found = session_policy(self.config(), {}, "mock", "filler-1", RULES)
        ids = (f"{number * 2_654_435_761 % 2**32:08x}" for number in range(1, 10_000))
        return run_setup(found.policy, found.around, SystemSizes(self.sizes.system, EXEC_LINE), ids)

    def config(self) -> Json:
        """The runtime's defaults, and a model with its window."""
        model = {"id": "filler-1", "name": "filler-1", "contextWindow": self.window, "maxTokens": 4_096}  # fmt: skip
        provider = {"baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "models": [model]}  # fmt: skip
        return {
            "models": {"mode": "replace", "providers": {"mock": provider}},
            "agents": {"defaults": {"model": {"primary": "mock/filler-1"}}},
        }

    def play(self) -> tuple[SessionState, list[TurnResult]]:
        """All turns, each prompt as long as its total needs."""
        setup = self.setup()
        state = SessionState(header_bytes=len(self.header()) + 1)
        played = []
        for number, turn in enumerate(self.turns, 1):
            result = self._fitted(setup, state, number, turn)
            state = result.state
            played.append(result)
        return state, played

    def _fitted(self, setup: RunSetup, state: SessionState, number: int, turn: Turn) -> TurnResult:
        chars = turn.prompt or 400
        result = self._turn(setup, state, number, replace(turn, prompt=chars))
        if turn.total:
            chars += (turn.total - result.state.index["totalTokens"]) * self.sizes.divisor
            result = self._turn(setup, state, number, replace(turn, prompt=chars))
            left = turn.total - result.state.index["totalTokens"]
            assert not left, f"{self.name}, turn {number}: {left} tokens off"
        return result

    def _turn(self, setup: RunSetup, state: SessionState, number: int, turn: Turn) -> TurnResult:
        text = f"Turn {number}. " + prose(number, turn.prompt - len(f"Turn {number}. "))
        clock = _clock(START_MS + number * 120_000)
        now = next(clock)
        message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": now}
        key = f"turn-{number}"
        stored = {**message, "idempotencyKey": f"{key}:user"}
        steps = run_turn(setup, state, TurnPrompt(stored, text, text, key))
        answers = _Model(self.sizes, number, turn, clock)
        try:
            request = next(steps)
            while True:
                match request:
                    case Moment():
                        given: Any = next(clock)
                    case ModelCall():
                        given = answers.answer(request)
                    case Compaction():
                        given = KnownSummary(self.summary)
                    case _:
                        raise AssertionError(request)
                request = steps.send(given)
        except StopIteration as stop:
            done: TurnResult = stop.value
            return done

    def header(self) -> str:
        return _line({"type": "session", "version": 3, "id": self.name, "timestamp": "2026-12-01T09:00:00.000Z", "cwd": "/w"})  # fmt: skip

    def files(self) -> Mapping[str, str]:
        """The transcript, the configuration and the index, by name."""
        state, _ = self.play()
        lines = [self.header(), *map(_line, state.entries)]
        report = {
            "systemPrompt": {"chars": self.sizes.system},
            "tools": {
                "schemaChars": self.sizes.tools,
                "entries": [{"name": name} for name in ("read", "write", "exec")],
            },
        }
        entry = {
            "sessionId": self.name,
            "sessionFile": f"{self.name}.jsonl",
            **state.index,
            "modelProvider": "mock",
            "model": "filler-1",
            "contextTokens": self.window,
            "systemPromptReport": report,
        }
        return {
            f"{self.name}.jsonl": "\n".join(lines) + "\n",
            "openclaw.json": json.dumps(self.config(), indent=2) + "\n",
            "sessions.json": json.dumps({"agent:main:main": entry}, indent=2) + "\n",
        }


@dataclass(slots=True)
class _Model:
    """What the model answers, and what its provider bills."""

    sizes: Sizes
    number: int
    turn: Turn
    clock: Iterator[int]
    flushed: bool = False

    def answer(self, call: ModelCall) -> ModelAnswer:
        if call.run == "flush":
            return self._flush(call)
        asked = any(m.get("role") == "toolResult" for m in _since_prompt(call))
        if self.turn.result and not asked:
            tool = {"type": "toolCall", "id": f"call-{self.number}", "name": "read", "arguments": {"path": f"notes/{self.number}.md"}}  # fmt: skip
            result = self._result(f"call-{self.number}", "read", prose(1_000 + self.number, self.turn.result))  # fmt: skip
            return ModelAnswer(self._message(call, [tool], 90, "toolUse"), (result,))
        text = prose(500 + self.number, self.turn.answer)
        return ModelAnswer(self._message(call, [_text(text)], len(text), "stop"))

    def _flush(self, call: ModelCall) -> ModelAnswer:
        if self.flushed:
            return ModelAnswer(self._message(call, [_text("NO_REPLY")], 8, "stop"))
        self.flushed = True
        path = "memory/2026-12-01.md"
        note = prose(900 + self.number, 240)
        tool = {"type": "toolCall", "id": f"flush-{self.number}", "name": "write", "arguments": {"path": path, "content": note}}  # fmt: skip
        result = self._result(f"flush-{self.number}", "write", f"Appended {len(note)} bytes to {path}.")  # fmt: skip
        return ModelAnswer(self._message(call, [tool], 330, "toolUse"), (result,))

    def _message(self, call: ModelCall, content: list[Json], said: int, stop: str) -> Json:
        rule = Scripted(self.sizes.divisor, 0, self.sizes.tools, self.sizes.flush_tools)
        situation = CallSituation(call.run, call.context, RecordedCall({}), RULES.usage)
        sent = rule(situation) or 0
        output = -(-said // self.sizes.divisor)
        usage = {"input": sent, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": sent + output}  # fmt: skip
        base = {"role": "assistant", "content": content, "api": "openai-completions", "provider": "mock", "model": "filler-1"}  # fmt: skip
        return {**base, "usage": usage, "stopReason": stop, "timestamp": next(self.clock)}

    def _result(self, call_id: str, tool: str, text: str) -> Json:
        base = {"role": "toolResult", "toolCallId": call_id, "toolName": tool}
        return {**base, "content": [_text(text)], "isError": False, "timestamp": next(self.clock)}


def _since_prompt(call: ModelCall) -> list[Mapping[str, Any]]:
    messages = list(call.context.stored)
    last = max(n for n, m in enumerate(messages) if m.get("role") == "user")
    return messages[last:]


def _clock(start: int) -> Iterator[int]:
    return iter(range(start, start + 110_000, 250))


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


Build = Callable[[], Script]
