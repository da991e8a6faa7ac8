"""A small agent on the openai package whose context ContextLab keeps.

Before each model call it asks what to send; behind each it stores what came back. Memory flushes and
compactions happen in between, by ContextLab's workers.

Environment: CONTEXTLAB_URL, CONTEXTLAB_TOKEN (scope admin), MODEL_URL (any OpenAI-compatible server),
MODEL_KEY, MODEL_NAME. Each line of standard input is a message; /quit ends it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import openai

LAB = os.environ["CONTEXTLAB_URL"].rstrip("/") + "/api/v1/"
model_name = os.environ.get("MODEL_NAME", "mock")
model = openai.OpenAI(
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
            "provider": "openai",
            "model": model_name,
            "windows": {"contextWindow": 16_000},
            "systemPrompt": "You are brief.",
        },
    )
    lab(
        "PUT",
        f"agents/{agent['id']}/policy",
        {
            "settings": {
                "compaction.reserveTokens": 4_000,
                "compaction.reserveTokensFloor": 4_000,
                "compaction.memoryFlush.softThresholdTokens": 1_000,
                "compaction.keepRecentTokens": 2_000,
            }
        },
    )
    return str(lab("POST", "sessions", {"agent": agent["id"]})["id"])


def ask(session: str, text: str) -> str:
    """One turn: until the model has answered, or nothing can be done."""
    prompt: dict[str, Any] | None = {"role": "user", "content": text}
    failures = 0
    while True:
        ready = lab(
            "POST", f"sessions/{session}/prepare?wait=120", {"form": "openai", "prompt": prompt}
        )
        sent = [] if prompt is None else [prompt]
        if ready["action"] == "blocked":  # the prompt alone confirms it: both are stored
            lab("POST", f"sessions/{session}/calls", {"form": "openai", "messages": sent})
            return str(ready["reply"])
        if ready["action"] != "send":
            continue  # a flush or a compaction takes its time: ask again
        system = "\n\n".join(part["text"] for part in ready["system"])
        try:
            answer = model.chat.completions.create(
                model=model_name,
                messages=[{"role": "system", "content": system}, *ready["messages"]],
            )
        except openai.APIStatusError as error:
            told = {"form": "openai", "messages": sent, "error": str(error)}
            follows = lab("POST", f"sessions/{session}/calls", told)
            prompt, failures = None, failures + 1  # it is stored; go on behind it
            if follows["action"] == "blocked":
                return str(follows["reply"])
            if follows["action"] == "send" and failures > 3:  # no overflow: the model's own trouble
                return f"The model failed: {error}"
            continue
        reply = answer.choices[0].message.model_dump(exclude_none=True)
        usage = answer.usage.model_dump(exclude_none=True) if answer.usage else None
        body = {"form": "openai", "messages": [*sent, reply], "usage": usage}
        stored = lab("POST", f"sessions/{session}/calls", body)
        pressure = stored["pressure"]
        print(f"[{pressure['storedTotal']} of {pressure['window']} tokens]", file=sys.stderr)
        return str(reply["content"])


if __name__ == "__main__":
    current = begin()
    for line in sys.stdin:
        if line.strip() == "/quit":
            break
        print(ask(current, line.strip()), flush=True)
    print(f"session {current}")
