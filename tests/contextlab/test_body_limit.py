"""A body that is too large is refused while it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from contextlab.body_limit import Application, Receive, Send, limit_body

LIMIT = 2**20
CHUNK = b"x" * 2**19


async def echo(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Reads the whole body, then says how much it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


async def run(
    application: Application, scope: dict[str, Any], receive: Receive, send: Send
) -> None:
    await application(scope, receive, send)


def status(chunks: Iterable[bytes], length: bytes | None = None) -> int:
    return int(answer(chunks, length)[0]["status"])


def answer(
    chunks: Iterable[bytes], length: bytes | None = None, accept: bytes = b"*/*"
) -> list[Mapping[str, Any]]:
    sent: list[Mapping[str, Any]] = []
    waiting = [{"type": "http.request", "body": c, "more_body": True} for c in chunks]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Mapping[str, Any]:
        return waiting.pop(0)

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    headers = [(b"accept", accept)]
    headers += [] if length is None else [(b"content-length", length)]
    scope = {"type": "http", "headers": headers}
    asyncio.run(run(limit_body(echo, LIMIT), scope, receive, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent


def test_a_body_up_to_the_limit_passes() -> None:
    assert status([CHUNK, CHUNK], length=b"1048576") == 200


def test_an_announced_length_is_refused_before_anything_is_read() -> None:
    assert status([], length=b"1048577") == 413


def test_a_body_without_a_length_is_refused_when_it_passes_the_limit() -> None:
    assert status([CHUNK, CHUNK, b"x"]) == 413


def test_a_length_that_lies_does_not_help() -> None:
    assert status([CHUNK, CHUNK, b"x"], length=b"3") == 413
    assert status([CHUNK, CHUNK, b"x"], length=b"-3") == 413


def test_a_browser_gets_a_page_that_says_what_to_do_and_a_program_one_line() -> None:
    start, body = answer([], b"1048577", accept=b"text/html,*/*;q=0.8")
    assert dict(start["headers"])[b"content-type"].startswith(b"text/html")
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    assert b"import_sessions" in body["body"]
    start, body = answer([], b"1048577")
    assert body["body"] == b"The request is larger than 1 MiB.\n"
