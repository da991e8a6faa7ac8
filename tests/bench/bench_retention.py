"""What finding the anchors of a long session costs, and how the cost grows."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

from compaction_app.engine.retention.extract import Extractor
from tests.bench.sessions import long_session

LENGTHS = (1_000, 10_000)
GOAL_MS = 2_000
GOAL_GROWTH = 1.5


def conversation(messages: int) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in long_session(2 * messages, with_compactions=False))
    found = [line["message"] for line in lines if line.get("type") == "message"]
    return found[:messages]


def measure() -> list[dict[str, Any]]:
    spent: dict[int, float] = {}
    found = chars = 0
    for length in LENGTHS:
        messages = conversation(length)
        chars = sum(len(json.dumps(message)) for message in messages)
        extractor = Extractor()
        start = process_time()
        found = sum(len(extractor.add(n, message)) for n, message in enumerate(messages))
        spent[length] = process_time() - start
    short, long = LENGTHS
    growth = (spent[long] / long) / (spent[short] / short)
    return [
        {
            "name": f"anchors of {long} messages",
            "value": 1000 * spent[long],
            "unit": "ms",
            "goal": f"<= {GOAL_MS} ms of processor time",
            "ok": 1000 * spent[long] <= GOAL_MS,
            "detail": f"{chars / 1e6:.0f} MB, {found} anchors",
        },
        {
            "name": "anchors, growth",
            "value": growth,
            "unit": "x",
            "goal": f"<= {GOAL_GROWTH} x per message from {short} to {long}",
            "ok": growth <= GOAL_GROWTH,
            "detail": ", ".join(f"{n}: {1e6 * s / n:.0f} µs/message" for n, s in spent.items()),
        },
    ]
