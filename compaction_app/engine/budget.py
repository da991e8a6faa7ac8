"""Which reserve and which kept tail hold for a run? (spec budgets 3, profiles 1.4 and 5.2)

The runtime has settings of its own; the configuration raises the reserve to a floor and may replace
both values. In small windows the floor is lowered, a configured or current reserve is not. Since
2026.9 the reserve is no setting any more: at most a quarter of the window, whatever asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step
from sessions_app.tokens import javascript as js

RUNTIME_RESERVE_TOKENS: Final = 16_384
RUNTIME_KEEP_RECENT_TOKENS: Final = 20_000
RESERVE_TOKENS_FLOOR: Final = 20_000
MIN_PROMPT_BUDGET_TOKENS: Final = 8_000
MIN_PROMPT_BUDGET_RATIO: Final = 0.5
RESERVE_SHARE: Final = 0.25
"""The part of a window that a reserve may take (spec profiles 5.2)."""


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """The settings of the runtime's own compaction, tokens."""

    enabled: bool = True
    reserve_tokens: int | float = RUNTIME_RESERVE_TOKENS
    keep_recent_tokens: int | float = RUNTIME_KEEP_RECENT_TOKENS


@dataclass(frozen=True, slots=True)
class BudgetRules:
    """What differs by version.

    ``protects_small_windows``: a small window lowers the reserve floor. ``configurable``: the reserve
    and its floor are read from the configuration. ``reserve_share``: the part of the window that the
    whole reserve may take, none where only the floor is limited. ``switchable``: ``compaction.enabled``
    is read.
    """

    protects_small_windows: bool
    configurable: bool = True
    reserve_share: float | None = None
    switchable: bool = False


OPENCLAW_2026_3: Final = BudgetRules(protects_small_windows=False)
OPENCLAW_2026_4_20: Final = BudgetRules(protects_small_windows=True)
OPENCLAW_2026_5_28: Final = OPENCLAW_2026_4_20
OPENCLAW_2026_9: Final = BudgetRules(
    protects_small_windows=True,
    configurable=False,
    reserve_share=RESERVE_SHARE,
    switchable=True,
)


@dataclass(frozen=True, slots=True)
class AppliedSettings:
    """The settings in force and what had to be overridden; ``None`` where nothing changed."""

    settings: CompactionSettings
    reserve_override: int | float | None
    keep_override: int | float | None
    decision: Decision

    @property
    def did_override(self) -> bool:
        return self.reserve_override is not None or self.keep_override is not None


def runtime_settings(settings: object) -> CompactionSettings:
    """The ``compaction`` block of the agent's settings file, with the runtime's defaults."""
    base = CompactionSettings()
    enabled, reserve, keep = (
        value_at(settings, "compaction", key)
        for key in ("enabled", "reserveTokens", "keepRecentTokens")
    )
    return CompactionSettings(
        enabled=base.enabled if enabled is None else enabled,
        reserve_tokens=base.reserve_tokens if reserve is None else reserve,
        keep_recent_tokens=base.keep_recent_tokens if keep is None else keep,
    )


def min_prompt_budget(budget: float) -> int | float:
    """The part of a window that a reserve floor leaves to the prompt: half of it, 1 to 8000 tokens."""
    half = js.maximum(1, js.floor(budget * MIN_PROMPT_BUDGET_RATIO))
    return js.minimum(MIN_PROMPT_BUDGET_TOKENS, half)


def effective_reserve(window: float, reserve: float, share: float = RESERVE_SHARE) -> int | float:
    """A reserve, no more than its share of the window; fractions are cut off (spec profiles 5.2)."""
    room = js.floor(js.maximum(1, js.floor(window)) * share)
    return js.minimum(js.maximum(0, js.floor(reserve)), room)


def reserve_floor(compaction: object) -> int | float:
    """``reserveTokensFloor``, rounded down; 20000 when it is missing or no finite number from 0 up."""
    floor = _floor_from(value_at(compaction, "reserveTokensFloor"), 0)
    return RESERVE_TOKENS_FLOOR if floor is None else floor


def apply_settings(
    rules: BudgetRules,
    rule_set: str,
    config: object,
    context_tokens: object,
    current: CompactionSettings | None = None,
) -> AppliedSettings:
    """The settings after ``agents.defaults.compaction``, for a window of ``context_tokens``.

    The window is not rounded, so a fractional one gives a fractional floor.
    """
    current = current or CompactionSettings()
    compaction = value_at(config, "agents", "defaults", "compaction")
    configured = (
        _floor_from(value_at(compaction, "reserveTokens"), 0) if rules.configurable else None
    )
    keep = _keep(value_at(compaction, "keepRecentTokens"))
    floor, steps = _floor_in_window(rules, compaction, context_tokens)
    base = current.reserve_tokens if configured is None else configured
    reserve = js.maximum(base, floor)
    if rules.reserve_share is not None:
        reserve, limit = _limited_reserve(reserve, context_tokens, rules.reserve_share)
        steps = (*steps, limit)
    kept = current.keep_recent_tokens if keep is None else keep
    applied = replace(current, reserve_tokens=reserve, keep_recent_tokens=kept)
    overridden = applied != current
    reason = _reason(overridden, reserve - base, configured is not None)
    applied = replace(applied, enabled=_enabled(rules, compaction, current.enabled))
    return AppliedSettings(
        settings=applied,
        reserve_override=reserve if reserve != current.reserve_tokens else None,
        keep_override=kept if kept != current.keep_recent_tokens else None,
        decision=Decision(
            rule="compaction_settings",
            fired=overridden,
            outcome="override" if overridden else "keep",
            reason=reason,
            rule_set=rule_set,
            inputs={"reserveTokens": base, "contextWindow": _number(context_tokens)},
            steps=(
                *steps,
                Step("reserveTokens", "max(reserveTokens, reserveTokensFloor)", reserve),
                Step("keepRecentTokens", "keepRecentTokens", kept),
            ),
        ),
    )


def _floor_in_window(
    rules: BudgetRules, compaction: object, context_tokens: object
) -> tuple[int | float, tuple[Step, ...]]:
    """The reserve floor, lowered where a small window has to keep room for the prompt."""
    floor = reserve_floor(compaction) if rules.configurable else RESERVE_TOKENS_FLOOR
    formula = "reserveTokensFloor ?? 20000" if rules.configurable else "20000"
    steps = (Step("reserveTokensFloor", formula, floor),)
    if (
        rules.reserve_share is not None
        or not rules.protects_small_windows
        or not js.is_finite(context_tokens)
        or context_tokens <= 0
    ):
        return floor, steps
    room = js.maximum(0, context_tokens - min_prompt_budget(context_tokens))
    lowered = js.minimum(floor, room)
    formula = "min(reserveTokensFloor, contextWindow - min(8000, contextWindow / 2))"
    return lowered, (*steps, Step("reserveTokensFloor in this window", formula, lowered))


def _limited_reserve(
    reserve: float, context_tokens: object, share: float
) -> tuple[int | float, Step]:
    """The reserve as far as the window allows it; all of it where no window is known."""
    window = js.pos_int(context_tokens)
    limited = reserve if window is None else effective_reserve(window, reserve, share)
    return limited, Step("reserve in this window", "min(reserve, contextWindow / 4)", limited)


def _enabled(rules: BudgetRules, compaction: object, current: bool) -> bool:
    given = value_at(compaction, "enabled") if rules.switchable else None
    return given if isinstance(given, bool) else current


def _reason(overridden: bool, raised: float, configured: bool) -> str:
    if not overridden:
        return "settings_unchanged"
    if raised > 0:
        return "reserve_raised_to_floor"
    if raised < 0:
        return "reserve_limited_by_window"
    return "reserve_configured" if configured else "keep_recent_configured"


def _number(value: object) -> int | float | None:
    return value if js.is_number(value) else None


def _floor_from(value: object, least: int) -> int | float | None:
    return js.floor(value) if js.is_finite(value) and value >= least else None


def _keep(value: object) -> int | float | None:
    """A positive value rounded down; 0.5 is accepted and becomes 0."""
    return js.floor(value) if js.is_finite(value) and value > 0 else None
