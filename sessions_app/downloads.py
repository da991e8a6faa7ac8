"""Answers that are sent while they are made, under both kinds of server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

PIECE_BYTES = 1 << 20


def download(
    request: HttpRequest, lines: Iterator[bytes], name: str, content_type: str
) -> StreamingHttpResponse:
    """A file that the browser saves under ``name`` and never shows."""
    pieces = _pieces(lines)
    # An asynchronous server would read a plain iterator to its end before it sends anything.
    content = _read_aside(pieces) if isinstance(request, ASGIRequest) else pieces
    answer = StreamingHttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _pieces(lines: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= PIECE_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


async def _read_aside(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    def take() -> bytes:
        return next(pieces, b"")

    while piece := await sync_to_async(take)():
        yield piece
