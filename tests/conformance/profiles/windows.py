"""Windows and settings of early versions; the rules are those of the section "budgets"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.budgets import settings, windows

FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "windowInfo": windows.run_info,
    "windowGuard": windows.guard,
    "applyDiscovered": windows.discovered,
    "contextTokensForModel": windows.for_model,
    "memoryFlushWindow": lambda a, r: windows.flush(
        {**a["params"], "cache": a.get("cache", {})}, r
    ),
    "compactionSettings": settings.applied,
}
