"""Which reserve floor does an overflow's final text suggest? (spec budgets 6.6)"""

from __future__ import annotations

from typing import Final

from compaction_app.engine.config_value import value_at
from compaction_app.engine.recovery_limits import agent_entry
from sessions_app.tokens import javascript as js

DEFAULT_FLOOR: Final = 20_000
_FLOORS: Final = ((1_000_000, 100_000), (200_000, 50_000), (100_000, 35_000))


def suggested_reserve_floor(window: object) -> int:
    """The floor in tokens for a window; 20000 for one below 100000 or unknown."""
    if js.is_finite(window):
        for least, floor in _FLOORS:
            if window >= least:
                return floor
    return DEFAULT_FLOOR


def hinted_window(
    config: object, agent_id: str | None, window: int | float | None
) -> int | float | None:
    """The window the hint assumes: no larger than the agent's, or else the general, contextTokens."""
    cap = value_at(agent_entry(config, agent_id), "contextTokens")
    if cap is None:
        cap = value_at(config, "agents", "defaults", "contextTokens")
    whole = js.pos_int(cap)
    if whole is None or window is None:
        return window
    return min(window, whole)
