"""When was the provider's prompt cache last used? The marker entries of a session.

Pruning waits until the cache has gone cold. The time comes from the last marker in the session, and
moves with every attempt that ends well (spec pruning 12.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.cache_ttl_settings import CACHE_TTL_MODE, context_pruning
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

CACHE_TTL_ENTRY: Final = "openclaw.cache-ttl"


@dataclass(frozen=True, slots=True)
class CacheTouchRules:
    """``by_model``: whether only markers of the same provider and model count."""

    by_model: bool


CACHE_TOUCH_2026_3: Final = CacheTouchRules(by_model=False)
CACHE_TOUCH_2026_4_20: Final = CacheTouchRules(by_model=True)
CACHE_TOUCH_2026_5_28: Final = CACHE_TOUCH_2026_4_20


def last_cache_touch_ms(
    entries: Sequence[Any],
    rules: CacheTouchRules,
    *,
    provider: object = None,
    model_id: object = None,
) -> float | None:
    """The time of the last marker in file order; a blank provider or model matches any."""
    wanted = {"provider": js.norm(provider), "modelId": js.norm(model_id)} if rules.by_model else {}
    for entry in reversed(entries):
        if not isinstance(entry, Mapping) or entry.get("type") != "custom":
            continue
        data = entry.get("data")
        if entry.get("customType") != CACHE_TTL_ENTRY or not isinstance(data, Mapping):
            continue
        if any(value and js.norm(data.get(key)) != value for key, value in wanted.items()):
            continue
        timestamp = data.get("timestamp")
        if js.is_finite(timestamp) and timestamp != 0:
            return timestamp
    return None


@dataclass(frozen=True, slots=True)
class CacheTouch:
    """The data of the marker to append at the end of an attempt, or none, and why."""

    data: Mapping[str, Any] | None
    decision: Decision


def cache_touch_marker(
    config: Any,
    provider: str,
    model_id: str,
    rules: RuleSet,
    now_ms: float,
    *,
    eligible: bool,
    compacted: bool = False,
    timed_out: bool = False,
) -> CacheTouch:
    """Whether an attempt leaves a marker.

    Args:
        compacted: whether a compaction happened in the attempt.
        timed_out: whether it timed out during a compaction.
    """
    mode = _pruning_mode(config)
    reason = "attempt_ended"
    if timed_out or compacted:
        reason = "timed_out_during_compaction" if timed_out else "compacted"
    elif mode != CACHE_TTL_MODE:
        reason = "mode_off"
    elif not eligible:
        reason = "provider_not_eligible"
    written = reason == "attempt_ended"
    decision = Decision(
        rule="cache_touch_marker",
        fired=written,
        outcome="write" if written else "skip",
        reason=reason,
        rule_set=rules.id,
        inputs={"mode": mode, "eligible": eligible, "compacted": compacted, "timedOut": timed_out},
    )
    data = {"timestamp": now_ms, "provider": provider, "modelId": model_id}
    return CacheTouch(data if written else None, decision)


def _pruning_mode(config: Any) -> str | None:
    pruning = context_pruning(config)
    mode = pruning.get("mode") if isinstance(pruning, Mapping) else None
    return mode if isinstance(mode, str) else None
