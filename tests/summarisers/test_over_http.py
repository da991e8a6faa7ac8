"""Asking models over HTTP, against a real server on loopback."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from compaction_app.engine.compaction.failures import ABORT_NAME, Failure
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.summarisers import asking
from compaction_app.summarisers.anthropic import Anthropic
from compaction_app.summarisers.asking import Asked, ask
from compaction_app.summarisers.by_model import ByModel
from compaction_app.summarisers.chat import (
    MAX_ANSWER_CHARS,
    ChatModel,
    ChatReply,
    ChatRequest,
    Endpoint,
    Tool,
    ToolUse,
    Usage,
)
from compaction_app.summarisers.openai_compatible import OpenAICompatible
from tests.summarisers.loopback import (
    Loopback,
    Step,
    anthropic_stream,
    openai_calls,
    openai_stream,
    page,
    refusing,
    rubbish,
    serving,
)

KEY = "sk-very-secret-0123456789"
HELLO = ChatRequest([{"role": "user", "content": "Hello"}], 500, "Be kind")
CONVERSATION = [
    {"role": "user", "content": [{"type": "text", "text": "Read it"}, {"type": "image"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm"},
            {"type": "text", "text": "I read"},
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a"}},
        ],
    },
    {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": "A"}]},
    {"role": "custom", "content": "left out by neither"},
]

Stream = Callable[..., Step]


@pytest.fixture(autouse=True, scope="module")
def _heavy_imports_are_not_timed() -> None:
    """Whichever test comes first would pay for them within its own limits."""
    import anthropic
    import openai

    assert anthropic.AsyncAnthropic and openai.AsyncOpenAI


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE_MS", 5)
    monkeypatch.setattr(asking, "LONGEST_PAUSE_MS", 60)
    monkeypatch.setattr(asking, "POLL_SECONDS", 0.01)


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stream(kind: str) -> Stream:
    return openai_stream if kind == "openai" else anthropic_stream


def model(kind: str, server: Loopback, **fields: Any) -> ChatModel:
    base = f"{server.url}/v1" if kind == "openai" else server.url
    endpoint = Endpoint(**{"base_url": base, "model": "m", "key": KEY, **fields})
    return OpenAICompatible(endpoint) if kind == "openai" else Anthropic(endpoint)


def outcomes(asked: Asked) -> list[tuple[str, int | None]]:
    return [(one.outcome, one.status) for one in asked.tries]


def failed(asked: Asked) -> Failure:
    assert isinstance(asked.answer, Failure)
    return asked.answer


def test_an_answer_comes_in_pieces_with_its_usage_and_cost(kind: str, stream: Stream) -> None:
    pieces: list[str] = []
    prices = {"input_price": Decimal(3), "output_price": Decimal(15)}
    with serving(stream("Hel", "lo ", "there")) as server:
        asked = ask(model(kind, server, **prices), HELLO, on_text=pieces.append)
    assert isinstance(asked.answer, ChatReply)
    assert (asked.answer.text, pieces) == ("Hello there", ["Hel", "lo ", "there"])
    assert asked.answer.usage == Usage(100, 20, 70 if kind == "anthropic" else None)
    assert asked.cost == Decimal("0.0006")
    assert outcomes(asked) == [("answered", None)]


def test_a_cost_is_unknown_where_a_price_is(kind: str, stream: Stream) -> None:
    with serving(stream("Hi")) as server:
        assert ask(model(kind, server, input_price=Decimal(3)), HELLO).cost is None


def test_openai_is_asked_in_its_own_words() -> None:
    with serving(openai_stream("Hi")) as server:
        tool = Tool("read", "Reads", {"type": "object"})
        ask(model("openai", server), ChatRequest(CONVERSATION, 500, "Be kind", (tool,)))
        ((path, headers, body),) = server.seen
    assert (path, headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["max_tokens"], body["stream"]) == (500, True)
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {
        "name": "read",
        "arguments": '{"path": "a"}',
    }
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "t1", "content": "A"}
    assert body["tools"][0]["function"]["name"] == "read"


def test_anthropic_is_asked_in_its_own_words() -> None:
    with serving(anthropic_stream("Hi")) as server:
        tool = Tool("read", "Reads", {"type": "object"})
        ask(model("anthropic", server), ChatRequest(CONVERSATION, 500, "Be kind", (tool,)))
        ((path, headers, body),) = server.seen
    assert (path, headers["authorization"]) == ("/v1/messages", f"Bearer {KEY}")
    assert (body["max_tokens"], body["system"]) == (500, "Be kind")
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert [b["type"] for b in body["messages"][1]["content"]] == ["text", "tool_use"]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "t1"
    assert body["tools"][0] == {
        "name": "read",
        "description": "Reads",
        "input_schema": {"type": "object"},
    }


def test_a_server_without_a_key_gets_none_of_the_environment(
    kind: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "of the environment")
    with serving(stream("Hi")) as server:
        asked = ask(model(kind, server, key=""), HELLO)
        headers = server.seen[0][1]
    assert outcomes(asked) == [("answered", None)]
    assert "of the environment" not in headers.values()
    assert headers["authorization"] == "Bearer none"


def test_never_more_is_asked_for_than_the_model_writes(kind: str, stream: Stream) -> None:
    with serving(stream("Hi")) as server:
        ask(model(kind, server, max_output=64), HELLO)
        assert server.seen[0][2]["max_tokens"] == 64


def test_a_tool_is_called(kind: str) -> None:
    step = (
        openai_calls(("read", {"path": "x"}))
        if kind == "openai"
        else anthropic_stream(calls=(("read", {"path": "x"}),))
    )
    with serving(step) as server:
        reply = ask(model(kind, server), HELLO).answer
    assert isinstance(reply, ChatReply)
    (use,) = reply.calls
    assert (use.name, use.arguments) == ("read", {"path": "x"})


def test_arguments_that_are_no_json_are_none() -> None:
    with serving(openai_calls(("read", '{"path": '), ("read", "[1]"))) as server:
        reply = ask(model("openai", server), HELLO).answer
    assert isinstance(reply, ChatReply)
    assert reply.calls == (ToolUse("call_0", "read", {}), ToolUse("call_1", "read", {}))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again(kind: str, stream: Stream, status: int) -> None:
    with serving(refusing(status), refusing(status), stream("Hi")) as server:
        asked = ask(model(kind, server), HELLO)
    assert outcomes(asked) == [("retried", status), ("retried", status), ("answered", None)]
    assert all(one.delay_ms and one.error for one in asked.tries[:2])


def test_it_is_asked_three_times_at_most(kind: str) -> None:
    with serving(refusing(500, "broken inside")) as server:
        asked = ask(model(kind, server), HELLO)
        assert len(server.seen) == 3
    assert [one.outcome for one in asked.tries] == ["retried", "retried", "gave_up"]
    assert "broken inside" in failed(asked).message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422])
def test_other_refusals_are_final(kind: str, status: int) -> None:
    with serving(refusing(status, "wrong")) as server:
        asked = ask(model(kind, server), HELLO)
        assert len(server.seen) == 1
    assert outcomes(asked) == [("refused", status)]
    assert "wrong" in failed(asked).message


def test_the_pause_that_a_server_asks_for_is_kept(kind: str, stream: Stream) -> None:
    with serving(refusing(429, Retry_After="7"), stream("Hi")) as server:
        asked = ask(model(kind, server), HELLO)
    assert asked.tries[0].delay_ms == 60  # what it asks for, within our own limit


def test_a_server_that_falls_silent_is_asked_again(kind: str, stream: Stream) -> None:
    with serving(stream("Hel", stall=5), stream("Hello")) as server:
        asked = ask(model(kind, server, stall_seconds=0.2), HELLO)
    assert isinstance(asked.answer, ChatReply)
    assert asked.answer.text == "Hello"
    assert [one.outcome for one in asked.tries] == ["retried", "answered"]
    assert asked.tries[0].seconds < 2


def test_a_server_that_stays_silent_timed_out(kind: str, stream: Stream) -> None:
    with serving(stream("Hel", stall=5)) as server:
        asked = ask(model(kind, server, stall_seconds=0.1), HELLO)
    assert failed(asked).name == "TimeoutError"
    assert "timed out" in failed(asked).message


def test_a_stream_that_ends_in_the_middle_is_no_answer(kind: str, stream: Stream) -> None:
    with serving(stream("Hel", cut=True), stream("Hello")) as server:
        asked = ask(model(kind, server), HELLO)
    assert isinstance(asked.answer, ChatReply)
    assert asked.answer.text == "Hello"
    assert [one.outcome for one in asked.tries] == ["retried", "answered"]


@pytest.mark.parametrize("step", [page, rubbish])
def test_rubbish_is_a_failure_with_a_reason(kind: str, step: Step) -> None:
    with serving(step) as server:
        asked = ask(model(kind, server), HELLO)
    assert outcomes(asked) == [("refused", None)]
    assert len(failed(asked).message) > 10


def test_a_server_that_is_not_there_is_tried_again(kind: str) -> None:
    with serving(page) as server:
        pass
    asked = ask(model(kind, server), HELLO)
    assert [one.outcome for one in asked.tries] == ["retried", "retried", "gave_up"]
    assert "onnection" in failed(asked).message


def test_an_answer_without_end_is_broken_off(
    kind: str, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_ANSWER_CHARS > 100_000
    monkeypatch.setattr("compaction_app.summarisers.chat.MAX_ANSWER_CHARS", 50)
    with serving(stream(*["x" * 20] * 9)) as server:
        asked = ask(model(kind, server), HELLO)
    assert "longer than" in failed(asked).message
    assert len(asked.tries) == 1


def test_a_call_ends_at_once_when_nobody_waits_for_it(kind: str, stream: Stream) -> None:
    cancelled = threading.Event()
    abort = Failure(ABORT_NAME, "This operation was aborted")

    with serving(stream("Hel", stall=20)) as server:
        began = time.monotonic()
        asked = ask(
            model(kind, server),
            HELLO,
            lambda: abort if cancelled.is_set() else None,
            lambda piece: cancelled.set(),
        )
        assert time.monotonic() - began < 3
        assert server.hung_up.wait(5)  # the connection was closed, not left behind
    assert asked.answer == abort
    assert [one.outcome for one in asked.tries] == ["stopped"]


def test_a_pause_ends_at_once_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LONGEST_PAUSE_MS", 60_000)
    abort = Failure(ABORT_NAME, "This operation was aborted")
    with serving(refusing(429, Retry_After="50")) as server:
        asked = ask(model(kind, server), HELLO, lambda: abort if server.seen else None)
    assert asked.answer == abort
    assert asked.tries[-1].outcome in ("retried", "stopped")


def test_a_key_is_neither_shown_nor_logged(
    kind: str, stream: Stream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(refusing(401, f"{KEY} is no key"), stream("Hi")) as server:
        asking_model = model(kind, server)
        asked = ask(asking_model, HELLO)
        ask(asking_model, HELLO)
    assert "[key] is no key" in failed(asked).message
    assert KEY not in repr(asked) + repr(asking_model.endpoint)
    assert "secret" not in caplog.text


def test_a_summariser_asks_with_the_prompt_of_a_compaction(kind: str, stream: Stream) -> None:
    calls: list[Asked] = []
    with serving(stream("## Goal\n", "Ship it")) as server:
        summariser = ByModel(model(kind, server), on_asked=calls.append)
        text = summariser.summarise(
            ModelCall([{"role": "user", "content": "Ship it"}], 1000, instructions="Briefly")
        )
        body = server.seen[0][2]
    assert (text, summariser.name, len(calls)) == ("## Goal\nShip it", "m", 1)
    assert body["max_tokens"] == 800
    assert "[User]: Ship it" in str(body)
    assert "Additional focus: Briefly" in str(body)


def test_a_summariser_answers_with_its_failure(kind: str) -> None:
    with serving(refusing(400, "too long")) as server:
        answer = ByModel(model(kind, server)).summarise(ModelCall([], 1000))
    assert isinstance(answer, Failure)
    assert "too long" in answer.message
