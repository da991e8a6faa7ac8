"""What one decision costs: every gate on the numbers it is asked about before each turn or call.

The best of several rounds, because the others were disturbed; microseconds of processor
time for one call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from timeit import repeat
from typing import Any

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.flush_plan import flush_plan
from compaction_app.engine.flush_run import FlushSituation, decide_flush
from compaction_app.engine.inner_trigger import RunState, check_inner_trigger
from compaction_app.engine.overflow import classify_overflow, is_context_overflow
from compaction_app.engine.preflight import PreflightSituation, decide_preflight
from compaction_app.engine.routing import TRANSCRIPT_SOURCE, prompt_budget, route_estimate
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28 as RULES
from compaction_app.engine.run_window import resolve_run_window
from compaction_app.engine.window import WindowRequest
from compaction_app.engine.window_cache import build_cache
from compaction_app.engine.window_guard import GuardedWindow, guard_window

WINDOW = 96_000
CALLS = 500
ROUNDS = 15

ENTRY = {"totalTokens": 71_000, "totalTokensFresh": True, "compactionCount": 2}
MODEL = {"provider": "p3", "id": "m7", "contextWindow": WINDOW}
ANSWER = {
    "role": "assistant", "provider": "p3", "model": "m7", "stopReason": "stop", "timestamp": 1,
    "usage": {"input": 70_000, "output": 500, "totalTokens": 70_500},
}  # fmt: skip
CONFIG = {
    "models": {
        "providers": {
            f"p{p}": {"models": [{"id": f"m{m}", "contextWindow": 32_000 + m} for m in range(10)]}
            for p in range(5)
        }
    }
}
OVERFLOW = "400 Bad Request: this model's maximum context length is 96000 tokens"
OTHER = "529 overloaded_error: the service is busy, please try again in a few seconds. " * 4
FAILED = {**ANSWER, "stopReason": "error", "errorMessage": OTHER}

_PLAN = flush_plan({}, 0, RULES.flush_plan)
_FLUSH = FlushSituation(_PLAN, ENTRY, WINDOW, 250)
_PREFLIGHT = PreflightSituation(ENTRY, WINDOW, 20_000, 4_000, 250)
_BUDGET = prompt_budget(WINDOW, 20_000)
_STATE = RunState(CompactionSettings(), MODEL, (ANSWER,))
_CACHE = build_cache(RULES.window_cache, CONFIG["models"], ())
_REQUEST = WindowRequest(CONFIG, "m7", "p3")
_GUARDED = GuardedWindow(WINDOW, "modelsConfig")

assert RULES.preflight is not None and RULES.routing is not None

GATES: dict[str, tuple[Callable[[], object], float]] = {
    "memory flush": (partial(decide_flush, _FLUSH, None, None, RULES.id), 60),
    "preflight": (
        partial(decide_preflight, RULES.preflight, _PREFLIGHT, None, None, RULES.id),
        60,
    ),
    "prompt route": (
        partial(route_estimate, RULES.routing, RULES.id, 80_000, TRANSCRIPT_SOURCE, 9_000, _BUDGET),
        60,
    ),
    "inner threshold": (
        partial(check_inner_trigger, RULES.inner_trigger, RULES.id, ANSWER, _STATE),
        60,
    ),
    "window guard": (partial(guard_window, RULES.window_guard, RULES.id, _GUARDED), 60),
    "overflow, by its text": (partial(classify_overflow, RULES.overflow, RULES.id, OVERFLOW), 200),
    "overflow, another error": (partial(classify_overflow, RULES.overflow, RULES.id, OTHER), 200),
    "overflow, inner list, answer": (
        partial(is_context_overflow, RULES.inner_trigger.overflow, ANSWER, WINDOW),
        60,
    ),
    "overflow, inner list, error": (
        partial(is_context_overflow, RULES.inner_trigger.overflow, FAILED, WINDOW),
        200,
    ),
    "window of the flush, 50 models": (
        partial(RULES.purpose_window.flush, RULES.window_chain, _CACHE, _REQUEST, None),
        60,
    ),
    "window of a run, 50 models": (
        partial(resolve_run_window, RULES.run_window, CONFIG, "p3", "m7", {}),
        60,
    ),
}
"""What is called, and the most microseconds it may take."""


def microseconds(call: Callable[[], object]) -> float:
    return 1e6 * min(repeat(call, timer=process_time, number=CALLS, repeat=ROUNDS)) / CALLS


def measure() -> list[dict[str, Any]]:
    rows = []
    for name, (call, goal) in GATES.items():
        spent = microseconds(call)
        rows.append(
            {
                "name": f"decision: {name}",
                "value": spent,
                "unit": "µs",
                "goal": f"<= {goal} µs",
                "ok": spent <= goal,
                "detail": f"{1e6 / spent:,.0f} a second",
            }
        )
    return rows
