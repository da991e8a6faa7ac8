"""A real HTTP server on loopback that behaves, one request after the other, as a script says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers with the script's next step; the last one is repeated."""

    server: Loopback
    body: Any = None

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.body = json.loads(self.rfile.read(length) or b"{}")
        with self.server.lock:
            number = len(self.server.seen)
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.seen.append((self.path, headers, self.body))
        try:
            self.server.script[min(number, len(self.server.script) - 1)](self)
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()  # no length: the end of the connection ends the body

    def event(self, data: Any, name: str = "") -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        named = f"event: {name}\n" if name else ""
        self.wfile.write(f"{named}data: {text}\n\n".encode())
        self.wfile.flush()


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: tuple[Step, ...]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.lock = threading.Lock()
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(*script: Step) -> Iterator[Loopback]:
    with Loopback(script) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def refusing(status: int, message: str = "no", **headers: str) -> Step:
    def step(handler: Handler) -> None:
        body = json.dumps({"error": {"message": message, "type": "some_error"}}).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def page(handler: Handler) -> None:
    """A proxy's friendly page where an answer should be."""
    body = b"<html><body>Please log in</body></html>"
    handler.send_response(200)
    handler.send_header("content-type", "text/html")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def rubbish(handler: Handler) -> None:
    handler.begin_stream()
    handler.event("{no json at all")


def openai_stream(*pieces: str, stall: float = 0, cut: bool = False, usage: Any = None) -> Step:
    """A completion in pieces. ``cut`` closes the connection in the middle, ``stall`` waits there."""

    def step(handler: Handler) -> None:
        handler.begin_stream()
        for number, piece in enumerate(pieces):
            handler.event(_chunk({"role": "assistant", "content": piece}))
            if stall and number == 0:
                _wait(handler, stall)
        if cut:
            return
        handler.event(_chunk({}, "stop"))
        counted = usage or {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        handler.event({**_chunk({}), "choices": [], "usage": counted})
        handler.event("[DONE]")

    return step


def openai_calls(*calls: tuple[str, Any], text: str = "") -> Step:
    """A completion that calls tools; its arguments come in two halves."""

    def step(handler: Handler) -> None:
        handler.begin_stream()
        if text:
            handler.event(_chunk({"role": "assistant", "content": text}))
        for index, (name, arguments) in enumerate(calls):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            begun = {"index": index, "id": f"call_{index}", "type": "function"}
            half = len(written) // 2
            handler.event(_tool({**begun, "function": {"name": name, "arguments": written[:half]}}))
            handler.event(_tool({"index": index, "function": {"arguments": written[half:]}}))
        handler.event(_chunk({}, "tool_calls"))
        handler.event("[DONE]")

    return step


def _tool(call: Any) -> Any:
    return _chunk({"tool_calls": [call]})


def _chunk(delta: Any, finish: str | None = None) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }


def anthropic_stream(
    *pieces: str, cut: bool = False, stall: float = 0, calls: tuple[tuple[str, Any], ...] = ()
) -> Step:
    def step(handler: Handler) -> None:
        handler.begin_stream()
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": 70,
            "cache_creation_input_tokens": 20,
            "output_tokens": 1,
        }
        begun = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m"}
        begun |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
        _named(handler, "message_start", message=begun)
        empty = {"type": "text", "text": ""}
        _named(handler, "content_block_start", index=0, content_block=empty)
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            _named(handler, "content_block_delta", index=0, delta=delta)
            if stall:
                _wait(handler, stall)
        if cut:
            return
        _named(handler, "content_block_stop", index=0)
        for index, (name, arguments) in enumerate(calls, 1):
            used = {"type": "tool_use", "id": f"tool_{index}", "name": name, "input": {}}
            _named(handler, "content_block_start", index=index, content_block=used)
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            _named(handler, "content_block_delta", index=index, delta=delta)
            _named(handler, "content_block_stop", index=index)
        end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        _named(handler, "message_delta", delta=end, usage={"output_tokens": 20})
        _named(handler, "message_stop")

    return step


def _named(handler: Handler, name: str, **fields: Any) -> None:
    handler.event({"type": name, **fields}, name)


def _wait(handler: Handler, seconds: float) -> None:
    """Says nothing, and notices when the other side hangs up."""
    until = time.monotonic() + seconds
    handler.connection.settimeout(0.05)
    while time.monotonic() < until:
        try:
            if handler.connection.recv(1) == b"":
                handler.server.hung_up.set()
                return
        except TimeoutError:
            continue
        except OSError:
            handler.server.hung_up.set()
            return
