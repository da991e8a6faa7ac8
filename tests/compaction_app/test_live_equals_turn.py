"""From request to request a live session sends what one uninterrupted turn of the engine would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compaction_app import live_turns
from compaction_app.engine.turn.requests import ModelAnswer, ModelCall, Moment
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.turn import run_turn
from compaction_app.live_setup import LiveSetup
from compaction_app.next_step import turn_prompt
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent
from tests.builders import FIRST_MS
from tests.compaction_app.live import answer, calls, live_agent, result, user
from tests.conftest import Person

Json = dict[str, Any]
MINUTE = 60_000
SETTINGS: Json = {
    "contextWindow": 200_000,
    "contextPruning.mode": "cache-ttl",
    "contextPruning.ttl": "5m",
    "contextPruning.keepLastAssistants": 1,
    "contextPruning.softTrimRatio": 0.01,
    "contextPruning.hardClearRatio": 0.02,
    "contextPruning.minPrunableToolChars": 1_000,
    "contextLimits.toolResultMaxChars": 8_000,
}

sizes = st.sampled_from([10, 3_000, 9_000])
loops = st.lists(st.lists(sizes, min_size=1, max_size=2), max_size=3)
turns = st.lists(st.tuples(sizes, loops, st.integers(0, 20)), min_size=1, max_size=5)
"""Each turn: the size of its prompt, the sizes of its tools' results call by call, minutes since the last."""


class Script:
    """What is said in a turn, with times of its own, so that both sides store the same."""

    def __init__(self, number: int, spec: tuple[int, list[list[int]], int], now_ms: int) -> None:
        size, loops, _ = spec
        self.now_ms = now_ms
        self.prompt = self.timed(user(f"{number} " + "p" * size))
        self.steps: list[tuple[Json, list[Json]]] = []
        for place, found in enumerate(loops):
            ids = [f"c{number}-{place}-{n}" for n in range(len(found))]
            results = [self.timed(result(i, "r" * n)) for i, n in zip(ids, found, strict=True)]
            self.steps.append((self.timed(calls(*ids, prompt=100)), results))
        self.steps.append((self.timed(answer("done", 200)), []))

    def timed(self, message: Json) -> Json:
        return {**message, "timestamp": self.now_ms}


def scripts(specs: list[tuple[int, list[list[int]], int]]) -> Iterator[Script]:
    now = FIRST_MS
    for number, spec in enumerate(specs):
        now += spec[2] * MINUTE
        yield Script(number, spec, now)


def in_one_go(live: LiveSetup, specs: Any) -> list[tuple[Any, ...]]:
    """The contexts that the engine's own turns send."""
    state, sent = SessionState(), []
    for script in scripts(specs):
        steps, left = run_turn(live.setup, state, turn_prompt(script.prompt)), iter(script.steps)
        reply: Any = None
        try:
            while True:
                request = steps.send(reply)
                if isinstance(request, Moment):
                    reply = script.now_ms
                    continue
                assert isinstance(request, ModelCall), request
                sent.append(request.context.messages)
                said, results = next(left)
                reply = ModelAnswer(said, tuple(results))
        except StopIteration as stop:
            state = stop.value.state
    return sent


def from_request_to_request(agent: Agent, specs: Any) -> list[tuple[Any, ...]]:
    """The contexts that a live session is told to send."""
    session, sent = create_session(agent, now_ms=FIRST_MS), []
    for script in scripts(specs):
        news: list[Json] = [script.prompt]
        for said, results in script.steps:
            begins = news == [script.prompt]
            if not begins:
                live_turns.append(session, news, now_ms=script.now_ms)
            prepared = live_turns.prepare(session, news[0] if begins else None, script.now_ms)
            assert prepared.next.action == "send" and prepared.next.context is not None
            sent.append(prepared.next.context.messages)
            live_turns.report_call(session, [*(news if begins else []), said], now_ms=script.now_ms)
            news = results
    return sent


@pytest.fixture
def agent(alice: Person) -> Agent:
    return live_agent(alice, SETTINGS)


@settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each example writes much
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(turns)
def test_the_contexts_are_the_same(agent: Agent, specs: Any) -> None:
    live = LiveSetup.of(create_session(agent))
    assert from_request_to_request(agent, specs) == in_one_go(live, specs)
