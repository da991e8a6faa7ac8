"""A small agent with a tool, on the anthropic package, whose context ContextLab keeps.

Environment: CONTEXTLAB_URL, CONTEXTLAB_TOKEN (scope admin), MODEL_URL (the API's address), MODEL_KEY,
MODEL_NAME. Each line of standard input is a message; /quit ends it.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import anthropic

TOOLS: list[Any] = [
    {
        "name": "clock",
        "description": "The time now, in UTC.",
        "input_schema": {"type": "object", "properties": {}},
    }
]
LAB = os.environ["CONTEXTLAB_URL"].rstrip("/") + "/api/v1/"
model_name = os.environ.get("MODEL_NAME", "mock")
model = anthropic.Anthropic(
    base_url=os.environ["MODEL_URL"], api_key=os.environ.get("MODEL_KEY", "none"), max_retries=0
)


def lab(method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """One call of the API. A problem says in ``detail`` what to do."""
    headers = {
        "Authorization": f"Bearer {os.environ['CONTEXTLAB_TOKEN']}",
        "Content-Type": "application/json",
    }
    request = Request(LAB + path, json.dumps(body).encode(), headers, method=method)
    try:
        with urlopen(request, timeout=150) as answer:
            found: dict[str, Any] = json.load(answer)
    except HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")
    return found


def begin() -> str:
    agent = lab(
        "POST",
        "agents",
        {
            "name": "example",
            "provider": "anthropic",
            "model": model_name,
            "windows": {"contextWindow": 200_000},
            "systemPrompt": "You are brief.",
            "tools": [{"name": tool["name"], "description": tool["description"]} for tool in TOOLS],
        },
    )
    return str(lab("POST", "sessions", {"agent": agent["id"]})["id"])


def ask(session: str, text: str) -> str:
    """One turn, with as many calls as the model's tools need."""
    fresh: list[dict[str, Any]] = [{"role": "user", "content": text}]
    prompt: dict[str, Any] | None = fresh[0]
    while True:
        ready = lab(
            "POST", f"sessions/{session}/prepare?wait=120", {"form": "anthropic", "prompt": prompt}
        )
        if ready["action"] == "blocked":
            return str(ready["reply"])
        if ready["action"] != "send":
            continue
        answer = model.messages.create(
            model=model_name,
            max_tokens=1_000,
            system="\n\n".join(part["text"] for part in ready["system"]),
            messages=ready["messages"],
            tools=TOOLS,
        )
        reply = {
            "role": "assistant",
            "content": [block.model_dump(exclude_none=True) for block in answer.content],
        }
        body = {
            "form": "anthropic",
            "messages": [*fresh, reply],
            "usage": answer.usage.model_dump(exclude_none=True),
        }
        lab("POST", f"sessions/{session}/calls", body)
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": run(block.name)}
            for block in answer.content
            if block.type == "tool_use"
        ]
        if not results:
            return "".join(block.text for block in answer.content if block.type == "text")
        # The results are stored at once; the next call goes on behind them.
        told = {"role": "user", "content": results}
        lab("POST", f"sessions/{session}/messages", {"form": "anthropic", "messages": [told]})
        fresh, prompt = [], None


def run(tool: str) -> str:
    return datetime.now(UTC).isoformat() if tool == "clock" else f"There is no tool {tool}."


if __name__ == "__main__":
    current = begin()
    for line in sys.stdin:
        if line.strip() == "/quit":
            break
        print(ask(current, line.strip()), flush=True)
    print(f"session {current}")
