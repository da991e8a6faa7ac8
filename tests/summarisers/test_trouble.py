"""What a person is told of a model that does not answer: which one, where, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.compaction.failures import Failure
from compaction_app.summarisers import asking
from compaction_app.summarisers.anthropic import Anthropic
from compaction_app.summarisers.asking import Asked, ask
from compaction_app.summarisers.chat import ChatModel, ChatRequest, Endpoint
from compaction_app.summarisers.openai_compatible import OpenAICompatible
from compaction_app.summarisers.trouble import address
from tests.summarisers.loopback import Handler, Loopback, Step, page, refusing, serving

KEY = "sk-very-secret-0123456789"
HELLO = ChatRequest([{"role": "user", "content": "Hello"}], 500)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE_MS", 5)
    monkeypatch.setattr(asking, "LONGEST_PAUSE_MS", 10)


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def model(kind: str, server: Loopback, **fields: Any) -> ChatModel:
    base = f"{server.url}/v1?key=in-the-query" if kind == "openai" else server.url
    values = {"base_url": base, "model": "m", "key": KEY, "name": "mine", **fields}
    return (OpenAICompatible if kind == "openai" else Anthropic)(Endpoint(**values))


def told(kind: str, step: Step, **fields: Any) -> tuple[Asked, str, str]:
    """What came of a call, what is advised, and the server's address."""
    with serving(step) as server:
        asked = ask(model(kind, server, **fields), HELLO)
    assert isinstance(asked.answer, Failure)
    return asked, asked.advice, server.url


def silent(handler: Handler) -> None:
    handler.server.hung_up.wait(2)


def test_a_model_that_cannot_be_reached_is_named_with_its_address(kind: str) -> None:
    with serving(page) as server:
        pass
    asked = ask(model(kind, server), HELLO)
    assert asked.advice.startswith(f'"mine" (m at {server.url}')
    assert "cannot be reached" in asked.advice and "server runs" in asked.advice
    assert KEY not in asked.advice and "in-the-query" not in asked.advice


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refuses the key"),
        (403, "refuses the key"),
        (404, "knows no such model"),
        (429, "too many requests"),
        (503, "an error of its own (503)"),
        (400, "refuses the request (400)"),
    ],
)
def test_each_refusal_says_what_to_do(kind: str, status: int, said: str) -> None:
    _, advice, _ = told(kind, refusing(status, "no"))
    assert said in advice and '"mine"' in advice


def test_a_server_that_says_nothing_is_given_more_time_by_a_setting(kind: str) -> None:
    _, advice, _ = told(kind, silent, stall_seconds=0.1)
    assert "sent nothing for 0.1 s" in advice and "Models" in advice


def test_what_is_no_answer_asks_whether_the_server_is_of_this_kind(kind: str) -> None:
    _, advice, _ = told(kind, page)
    assert "no answer that can be read" in advice


def test_an_answer_needs_no_advice(kind: str) -> None:
    from tests.summarisers.loopback import anthropic_stream, openai_stream

    with serving((openai_stream if kind == "openai" else anthropic_stream)("Hi")) as server:
        assert ask(model(kind, server), HELLO).advice == ""


def test_a_key_goes_to_no_other_server(kind: str) -> None:
    """Whatever the server says: only the address that a key was entered for gets it."""
    with serving(page) as other:

        def elsewhere(handler: Handler) -> None:
            handler.send_response(307)
            handler.send_header("location", f"http://localhost:{other.server_port}/v1/messages")
            handler.send_header("content-length", "0")
            handler.end_headers()

        asked, advice, _ = told(kind, elsewhere)
        assert other.seen == []
    assert [one.status for one in asked.tries] == [307]
    assert "sends on to another address" in advice


def test_a_page_of_an_internal_server_is_not_shown(kind: str) -> None:
    def internal(handler: Handler) -> None:
        body = b"<html>the salaries of all employees</html>"
        handler.send_response(404)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    asked, advice, _ = told(kind, internal)
    assert "salaries" not in repr(asked) + advice
    assert isinstance(asked.answer, Failure) and "404" in asked.answer.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("https://user:pw@api.example.com/v1?key=x#y", "https://api.example.com/v1"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("https://API.example.com", "https://api.example.com"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    assert address(url) == shown
