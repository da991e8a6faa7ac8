"""Which version uses which records of the pruning rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.pruning import (
    cache_touch,
    cache_ttl,
    caps,
    eligibility,
    guard,
    history_images,
    pairing,
    persist_rules,
    recovery_rules,
    session_rewrite,
    thinking,
    truncation_rules,
)


@dataclass(frozen=True, slots=True)
class PruningRules:
    """The records of all rules that cut, clear or repair tool results, for one version.

    ``experimental`` marks records whose constants are not the version's.
    """

    truncation: truncation_rules.TruncationRules
    caps: caps.CapRules
    recovery: recovery_rules.RecoveryRules
    pairing: pairing.PairingRules
    persist: persist_rules.PersistRules
    session_rewrite: session_rewrite.SessionRewriteRules
    guard: guard.GuardRules
    cache_ttl: cache_ttl.CacheTtlRules
    cache_touch: cache_touch.CacheTouchRules
    eligibility: eligibility.EligibilityRules
    thinking: thinking.ThinkingRules
    history_images: history_images.HistoryImageRules
    experimental: bool = False


PRUNING_2026_3: Final = PruningRules(
    truncation=truncation_rules.TRUNCATION_2026_3,
    caps=caps.CAPS_2026_3,
    recovery=recovery_rules.RECOVERY_2026_3,
    pairing=pairing.PAIRING_2026_3,
    persist=persist_rules.PERSIST_2026_3,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_3,
    guard=guard.GUARD_2026_3,
    cache_ttl=cache_ttl.CACHE_TTL_2026_3,
    cache_touch=cache_touch.CACHE_TOUCH_2026_3,
    eligibility=eligibility.ELIGIBILITY_2026_3,
    thinking=thinking.THINKING_2026_3,
    history_images=history_images.HISTORY_IMAGES_2026_3,
)
PRUNING_2026_4_20: Final = PruningRules(
    truncation=truncation_rules.TRUNCATION_2026_4_20,
    caps=caps.CAPS_2026_4_20,
    recovery=recovery_rules.RECOVERY_2026_4_20,
    pairing=pairing.PAIRING_2026_4_20,
    persist=persist_rules.PERSIST_2026_4_20,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_4_20,
    guard=guard.GUARD_2026_4_20,
    cache_ttl=cache_ttl.CACHE_TTL_2026_4_20,
    cache_touch=cache_touch.CACHE_TOUCH_2026_4_20,
    eligibility=eligibility.ELIGIBILITY_2026_4_20,
    thinking=thinking.THINKING_2026_4_20,
    history_images=history_images.HISTORY_IMAGES_2026_4_20,
)
PRUNING_2026_5_28: Final = PruningRules(
    truncation=truncation_rules.TRUNCATION_2026_5_28,
    caps=caps.CAPS_2026_5_28,
    recovery=recovery_rules.RECOVERY_2026_5_28,
    pairing=pairing.PAIRING_2026_5_28,
    persist=persist_rules.PERSIST_2026_5_28,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_5_28,
    guard=guard.GUARD_2026_5_28,
    cache_ttl=cache_ttl.CACHE_TTL_2026_5_28,
    cache_touch=cache_touch.CACHE_TOUCH_2026_5_28,
    eligibility=eligibility.ELIGIBILITY_2026_5_28,
    thinking=thinking.THINKING_2026_5_28,
    history_images=history_images.HISTORY_IMAGES_2026_5_28,
)
PRUNING_2026_9: Final = replace(
    PRUNING_2026_5_28,
    truncation=truncation_rules.TRUNCATION_2026_9,
    caps=caps.CAPS_2026_9,
    recovery=recovery_rules.RECOVERY_2026_9,
    guard=guard.GUARD_2026_9,
    cache_ttl=cache_ttl.CACHE_TTL_2026_9,
    pairing=pairing.PAIRING_2026_9,
    persist=persist_rules.PERSIST_2026_9,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_9,
    history_images=history_images.HISTORY_IMAGES_2026_9,
)
