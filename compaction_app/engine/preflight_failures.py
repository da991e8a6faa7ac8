"""What follows a preflight compaction that did not happen? (spec budgets 5.5)"""

from __future__ import annotations

from typing import Final

from compaction_app.engine.preflight import PreflightRules
from sessions_app.tokens import javascript as js

FAILURE_PREFIX: Final = "Preflight compaction required but failed: "


DEFERRED: Final = "deferred to background context-engine maintenance"


REASON_CLASSES: Final = (
    ("nothing to compact", "no_compactable_entries"),
    ("below threshold", "below_threshold"),
    ("already under target", "below_threshold"),
    ("already compacted", "already_compacted_recently"),
    ("deferred to background", "deferred_background"),
    ("still exceeds target", "live_context_still_exceeds_target"),
    ("guard", "guard_blocked"),
    ("summary", "summary_failed"),
    ("timed out", "timeout"),
    ("timeout", "timeout"),
    *((status, "provider_error_4xx") for status in ("400", "401", "403", "429")),
    *((status, "provider_error_5xx") for status in ("500", "502", "503", "504")),
)


HARMLESS_CLASSES: Final = frozenset(
    {"below_threshold", "no_compactable_entries", "already_compacted_recently"}
)


def reason_class(reason: object) -> str:
    """Why a compaction did not happen, as a class; the first fitting phrase decides."""
    text = js.norm(reason)
    return next((name for phrase, name in REASON_CLASSES if phrase in text), "unknown")


def is_harmless(reason: object) -> bool:
    """Whether the turn simply goes on without the compaction."""
    return reason_class(reason) in HARMLESS_CLASSES


def failure_of(rules: PreflightRules, *, ok: bool, compacted: bool, reason: object) -> str | None:
    """The error that ends the turn after a compaction attempt, or None when the turn goes on."""
    if not rules.failure_aborts or compacted or (not ok and is_harmless(reason)):
        return None
    if ok and reason != DEFERRED:
        return None
    return FAILURE_PREFIX + (reason if isinstance(reason, str) and reason else "unknown")
