"""Refuses bodies that are too large while they arrive, before anything stores them.

Django counts form fields only, and reads a whole upload to disk before a view sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.template.loader import render_to_string

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class TooLarge(Exception):
    """More bytes came than are allowed."""


def limit_body(application: Application, limit: int) -> Application:
    """An ASGI application that answers 413 to bodies of more than ``limit`` bytes."""

    async def limited(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await application(scope, receive, send)
        if announced(scope) > limit:
            return await refuse(scope, send, limit)
        received, answering = 0, False

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise TooLarge
            return message

        async def watching(message: Message) -> None:
            nonlocal answering
            answering = True
            await send(message)

        try:
            await application(scope, counting, watching)
        except TooLarge:
            if not answering:
                await refuse(scope, send, limit)

    return limited


def announced(scope: dict[str, Any]) -> int:
    """The length that the client gave, 0 if it gave none or nonsense."""
    value: bytes = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


async def refuse(scope: dict[str, Any], send: Send, limit: int) -> None:
    """In the site's dress for a browser, in one line for a program."""
    text = f"The request is larger than {limit / 2**20:.0f} MiB.\n".encode()
    kind = b"text/plain; charset=utf-8"
    if b"text/html" in dict(scope["headers"]).get(b"accept", b""):
        text = render_to_string("413.html", {"limit": limit}).encode()
        kind = b"text/html; charset=utf-8"
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": text})
