"""The record of one pass of cache-TTL pruning: what it compared, and how far it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from compaction_app.engine.decision import Decision, Scalar, Step
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings

CACHE_TTL: Final = "cache_ttl_pruning"
SOFT_TRIM: Final = "soft_trim"
HARD_CLEAR: Final = "hard_clear"


@dataclass(frozen=True, slots=True)
class PassFigures:
    """What a pass over one context came to. Characters as pruning counts them; ``prunable_chars`` is 0
    where hard clear was not reached; ``trimmed`` and ``cleared`` count changes."""

    window_chars: float
    chars: int
    chars_after: int
    prunable_chars: int
    protected_from: int
    trimmed: int
    cleared: int


def idle_decision(reason: str, rule_set: str, inputs: Mapping[str, Scalar]) -> Decision:
    """Pruning did not look at the context."""
    return Decision(
        rule=CACHE_TTL,
        fired=False,
        outcome="unchanged",
        reason=reason,
        rule_set=rule_set,
        inputs=inputs,
    )


def pass_decision(
    figures: PassFigures, settings: CacheTtlSettings, reason: str, rule_set: str
) -> Decision:
    """A pass with its arithmetic; it fired when it changed something."""
    window = figures.window_chars
    outcome = HARD_CLEAR if figures.cleared else SOFT_TRIM if figures.trimmed else "unchanged"
    return Decision(
        rule=CACHE_TTL,
        fired=bool(figures.trimmed or figures.cleared),
        outcome=outcome,
        reason=reason,
        rule_set=rule_set,
        inputs={
            "softTrimRatio": settings.soft_trim_ratio,
            "hardClearRatio": settings.hard_clear_ratio,
            "minPrunableToolChars": settings.min_prunable_tool_chars,
            "protectedFrom": figures.protected_from,
            "softTrimmed": figures.trimmed,
            "hardCleared": figures.cleared,
        },
        steps=(
            Step("windowChars", "contextWindow * 4", window, "chars"),
            Step("contextChars", "sum of estimates", figures.chars, "chars"),
            Step("ratio", "contextChars / windowChars", figures.chars / window, "ratio"),
            Step("prunableChars", "old tool results", figures.prunable_chars, "chars"),
            Step("ratioAfter", "after pruning", figures.chars_after / window, "ratio"),
        ),
    )
