"""What a summary without a model costs, and how the cost grows with the conversation."""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.summarisers.extractive import extractive_summary
from tests.bench.sessions import long_session

LENGTHS = (1_000, 20_000)
GOAL_MS = 5_000
GOAL_GROWTH = 2.0


def conversation(messages: int) -> list[dict[str, Any]]:
    """The messages of a real session, repeated."""
    lines = (json.loads(line) for line in long_session(2 * messages, with_compactions=False))
    found = [line["message"] for line in lines if line.get("type") == "message"]
    return found[:messages]


def measure() -> list[dict[str, Any]]:
    spent: dict[int, float] = {}
    chars = 0
    for length in LENGTHS:
        messages = conversation(length)
        chars = sum(len(json.dumps(message)) for message in messages)
        call = ModelCall(messages, 16_384)
        start = perf_counter()
        extractive_summary(call)
        spent[length] = perf_counter() - start
    short, long = LENGTHS
    growth = (spent[long] / long) / (spent[short] / short)
    return [
        {
            "name": f"summary without a model, {long} messages",
            "value": 1000 * spent[long],
            "unit": "ms",
            "goal": f"<= {GOAL_MS} ms",
            "ok": 1000 * spent[long] <= GOAL_MS,
            "detail": f"{chars / 1e6:.0f} MB",
        },
        {
            "name": "summary without a model, growth",
            "value": growth,
            "unit": "x",
            "goal": f"<= {GOAL_GROWTH} x per message from {short} to {long}",
            "ok": growth <= GOAL_GROWTH,
            "detail": ", ".join(f"{n}: {1e6 * s / n:.0f} µs/message" for n, s in spent.items()),
        },
    ]
