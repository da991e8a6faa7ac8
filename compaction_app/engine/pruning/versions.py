"""Which version uses which records of the pruning rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.pruning import (
    caps,
    guard,
    pairing,
    persist,
    recovery,
    session_rewrite,
    truncate,
)


@dataclass(frozen=True, slots=True)
class PruningRules:
    """The records of all rules that cut, clear or repair tool results, for one version."""

    truncation: truncate.TruncationRules
    caps: caps.CapRules
    recovery: recovery.RecoveryRules
    pairing: pairing.PairingRules
    persist: persist.PersistRules
    session_rewrite: session_rewrite.SessionRewriteRules
    guard: guard.GuardRules


PRUNING_2026_3: Final = PruningRules(
    truncation=truncate.TRUNCATION_2026_3,
    caps=caps.CAPS_2026_3,
    recovery=recovery.RECOVERY_2026_3,
    pairing=pairing.PAIRING_2026_3,
    persist=persist.PERSIST_2026_3,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_3,
    guard=guard.GUARD_2026_3,
)
PRUNING_2026_4_20: Final = PruningRules(
    truncation=truncate.TRUNCATION_2026_4_20,
    caps=caps.CAPS_2026_4_20,
    recovery=recovery.RECOVERY_2026_4_20,
    pairing=pairing.PAIRING_2026_4_20,
    persist=persist.PERSIST_2026_4_20,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_4_20,
    guard=guard.GUARD_2026_4_20,
)
PRUNING_2026_5_28: Final = PruningRules(
    truncation=truncate.TRUNCATION_2026_5_28,
    caps=caps.CAPS_2026_5_28,
    recovery=recovery.RECOVERY_2026_5_28,
    pairing=pairing.PAIRING_2026_5_28,
    persist=persist.PERSIST_2026_5_28,
    session_rewrite=session_rewrite.SESSION_REWRITE_2026_5_28,
    guard=guard.GUARD_2026_5_28,
)
