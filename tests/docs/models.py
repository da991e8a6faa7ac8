"""Models that answer on loopback, without streaming: one that grows, and one that asks for a tool."""

from __future__ import annotations

import json
import math
from typing import Any

from tests.summarisers.loopback import Handler

WORDS = "The quick brown fox writes another sentence about the plan. " * 40


def chat_model(handler: Handler) -> None:
    """An OpenAI-compatible chat model; usage is what it was sent, characters / 3: dense enough
    that the flush line comes before the check of the prompt."""
    _, _, body = handler.server.seen[-1]
    prompt = math.ceil(sum(len(str(m.get("content", ""))) for m in body["messages"]) / 3) + 100
    message = {"role": "assistant", "content": f"Answer {len(handler.server.seen)}. {WORDS}"}
    usage = {"prompt_tokens": prompt, "completion_tokens": 610, "total_tokens": prompt + 610}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
    _send(handler, {**answer, "choices": [choice], "usage": usage})


def tool_model(handler: Handler) -> None:
    """An Anthropic model that asks for the time once a turn."""
    _, _, body = handler.server.seen[-1]
    last = body["messages"][-1]["content"]
    answered = isinstance(last, list) and last[0]["type"] == "tool_result"
    said = {"type": "text", "text": f"It is {last[0]['content'][0:10]}." if answered else "wait"}
    if answered and isinstance(last[0]["content"], list):
        said["text"] = f"It is {last[0]['content'][0]['text'][:10]}."
    call = {"type": "tool_use", "id": f"t{len(handler.server.seen)}", "name": "clock", "input": {}}
    answer = {
        "id": "m", "type": "message", "role": "assistant", "model": body["model"],
        "content": [said] if answered else [call],
        "stop_reason": "end_turn" if answered else "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 50 + 10 * len(body["messages"]), "output_tokens": 9},
    }  # fmt: skip
    _send(handler, answer)


def _send(handler: Handler, body: Any) -> None:
    data = json.dumps(body).encode()
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
