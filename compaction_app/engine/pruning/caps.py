"""How many characters one tool result may hold, from the context window and the configuration.

2026.3 has one fixed cap, 2026.4.20 a default that the window or the configuration may lower, 2026.5.28
picks the cap by the size of the window (spec pruning 5, profiles 2.7 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.pruning.context_limits import context_limits
from sessions_app.tokens import javascript as js

WINDOW_SHARE: Final = 0.3
CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class CapRules:
    """Caps by version.

    ``base_chars`` holds where nothing larger applies; ``tiers`` are (least window in tokens, cap in
    characters), largest window first; ``from_window`` whether the cap for storing looks at the window
    and the configuration at all; ``option_chars`` reads the session guard's own option; ``configurable``
    whether ``contextLimits.toolResultMaxChars`` is read.
    """

    base_chars: int
    tiers: tuple[tuple[int, int], ...]
    from_window: bool
    option_chars: Callable[[object, int], float]
    configurable: bool = True


def _finite_option(option: object, base_chars: int) -> float:
    return js.maximum(1, js.floor(option)) if js.is_finite(option) else base_chars


def _coerced_option(option: object, base_chars: int) -> float:
    return js.maximum(1, base_chars if option is None else js.to_number(option))


def _no_option(_option: object, base_chars: int) -> float:
    return base_chars


CAPS_2026_3: Final = CapRules(
    base_chars=400_000, tiers=(), from_window=False, option_chars=_no_option
)
CAPS_2026_4_20: Final = CapRules(
    base_chars=16_000, tiers=(), from_window=True, option_chars=_coerced_option
)
CAPS_2026_5_28: Final = CapRules(
    base_chars=16_000,
    tiers=((200_000, 64_000), (100_000, 32_000)),
    from_window=True,
    option_chars=_finite_option,
)
CAPS_2026_9: Final = replace(CAPS_2026_5_28, configurable=False)


def auto_max_chars(window_tokens: float, rules: CapRules) -> int:
    """The cap a window gets when the configuration sets none."""
    if math.isfinite(window_tokens):
        for least, chars in rules.tiers:
            if math.floor(window_tokens) >= least:
                return chars
    return rules.base_chars


def share_of_window(window_tokens: float, cap: float) -> float:
    """``cap``, but at most 30 % of the window at four characters a token; NaN stays NaN."""
    share = js.floor(window_tokens * WINDOW_SHARE) * CHARS_PER_TOKEN
    return js.minimum(share, js.maximum(1, cap))


def max_chars(window_tokens: float, rules: CapRules) -> float:
    """The cap from the window alone (``calculateMaxToolResultChars``)."""
    return share_of_window(window_tokens, auto_max_chars(window_tokens, rules))


def live_max_chars(
    window_tokens: float, config: Any, agent_id: str | None, rules: CapRules
) -> float:
    """The cap of a run: ``contextLimits.toolResultMaxChars`` where set (0 counts), else automatic."""
    limit = context_limits(config, agent_id).get("toolResultMaxChars")
    if limit is None or not rules.configurable:
        return max_chars(window_tokens, rules)
    return share_of_window(window_tokens, js.to_number(limit))


def storing_max_chars(options: Mapping[str, Any], rules: CapRules) -> float:
    """The session guard's cap from its option ``maxToolResultChars``."""
    return rules.option_chars(options.get("maxToolResultChars"), rules.base_chars)


def session_max_chars(
    window_tokens: object, config: Any, agent_id: str | None, rules: CapRules
) -> float:
    """The cap that holds when a session stores a tool result; a base cap without a known window."""
    if rules.from_window and js.is_number(window_tokens):
        cap = live_max_chars(window_tokens, config, agent_id, rules)
        return rules.option_chars(cap, rules.base_chars)
    return rules.base_chars
