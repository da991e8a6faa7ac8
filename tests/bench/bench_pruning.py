"""What pruning costs: a long context in one call, and how the cost grows with its length."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from compaction_app.engine.pruning.cache_ttl import prune_context
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.guard import guard_context
from compaction_app.engine.pruning.history_images import prune_history_images
from compaction_app.engine.pruning.pairing import repair_pairing
from compaction_app.engine.pruning.recovery import plan_reduction
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28 as RULES

LONG_CONTEXT = 5_000
LENGTHS = (1_000, 10_000, 100_000)
GOAL_MS = 500
GOAL_GROWTH = 3.0
WINDOW = 200_000

_TEXTS = ("src/module.py: line of a log\n" * 150, "汉字文本 and a 😀\n" * 60, "short", "x" * 40_000)

Run = Callable[[list[Any]], object]


def context(messages: int) -> list[dict[str, Any]]:
    """Turns of five messages: a prompt, two calls with their results; two results in five."""
    rows: list[dict[str, Any]] = []
    for turn in range(messages // 5):
        rows.append({"role": "user", "content": f"step {turn}", "timestamp": turn})
        for part in "ab":
            name = f"c{turn}{part}"
            block = {"type": "toolCall", "id": name, "name": "read", "arguments": {"path": name}}
            rows.append({"role": "assistant", "content": [block], "stopReason": "toolUse"})
            text = _TEXTS[(turn + ord(part)) % len(_TEXTS)]
            content = [{"type": "text", "text": text}]
            rows.append(
                {"role": "toolResult", "toolCallId": name, "toolName": "read", "content": content}
            )
    return rows


def _prune(messages: list[Any]) -> object:
    return prune_context(messages, CacheTtlSettings(), RULES, window_tokens=WINDOW)


RUNS: dict[str, Run] = {
    "cache-TTL pruning": _prune,
    "soft guard": lambda messages: guard_context(messages, WINDOW, RULES),
    "reduction plan": lambda messages: plan_reduction(messages, WINDOW, RULES.pruning.recovery),
    "pairing": lambda messages: repair_pairing(messages, RULES.pruning.pairing, 0),
    "history images": lambda messages: prune_history_images(messages, RULES.pruning.history_images),
}


def _seconds(run: Run, messages: list[Any], times: int = 3) -> float:
    """The best of a few runs: the others were disturbed."""
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        run(messages)
        best = min(best, perf_counter() - start)
    return best


def measure() -> list[dict[str, Any]]:
    long_context = context(LONG_CONTEXT)
    results = sum(message["role"] == "toolResult" for message in long_context)
    contexts = {length: context(length) for length in LENGTHS}
    rows = []
    for name, run in RUNS.items():
        spent = 1000 * _seconds(run, long_context)
        per_message = {n: 1e6 * _seconds(run, contexts[n]) / n for n in LENGTHS}
        growth = per_message[LENGTHS[-1]] / per_message[LENGTHS[0]]
        rows.append(
            {
                "name": f"{name}, {LONG_CONTEXT} messages",
                "value": spent,
                "unit": "ms",
                "goal": f"<= {GOAL_MS} ms",
                "ok": spent <= GOAL_MS,
                "detail": f"{results} tool results",
            }
        )
        rows.append(
            {
                "name": f"{name}, growth",
                "value": growth,
                "unit": "x",
                "goal": f"<= {GOAL_GROWTH} x per message from {LENGTHS[0]} to {LENGTHS[-1]}",
                "ok": growth <= GOAL_GROWTH,
                "detail": ", ".join(f"{n}: {us:.1f} µs/message" for n, us in per_message.items()),
            }
        )
    return rows
