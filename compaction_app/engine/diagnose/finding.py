"""A finding: something to say about a configuration or a session, by stable code.

The codes stand here in the order of their consequence; severity is part of a code, never of a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Severity = Literal["grave", "warn", "info"]
Numbers = Mapping[str, int | float | str]

_GRAVE: Final = (
    "CONFIG_INVALID", "CONFIG_UNKNOWN_KEY", "STUCK_OVERFLOW", "SUMMARY_LOST_HISTORY", "CONSTRAINT_LOST", "WINDOW_TOO_SMALL",
    "COMPACTS_FROM_FIRST_TOKEN", "COMPACTION_LOOP", "SESSION_BELOW_KEEP", "NO_LEGAL_CUT", "COMPACTION_FALLBACK",
    "NO_PROGRESS", "FLUSH_UNREACHABLE", "FLUSH_SHADOWED_BY_PRECHECK",
    "FLUSH_BYPASSED_BY_JUMP", "FLUSH_SKIPPED_ALREADY_FLUSHED", "FLUSH_NOT_SAVED",
)  # fmt: skip
_WARN: Final = (
    "WINDOW_MISMATCH", "WINDOW_ASSUMED", "STORE_WINDOW_STALE", "FLUSH_DISABLED", "KEEP_GE_THRESHOLD",
    "RESERVE_IGNORED", "TRIGGER_INACTIVE", "RESERVE_SHRINKS_PROMPT", "SOFT_IS_DISTANCE",
    "FLUSH_DID_NOT_COVER", "IDENTIFIER_LOST", "COMPACTION_STALLED", "COMPACTION_GREW", "COMPACTS_OFTEN", "COUNT_UNDERSTATED",
    "CONTEXT_FILE_TRUNCATED", "OVERHEAD_HIGH", "ATTACHMENTS_ACCUMULATE", "TOOL_RESULT_OVERSIZED",
    "TOOL_RESULTS_AGGREGATE", "PRUNE_INELIGIBLE", "PRUNE_TTL_INVALID", "PRUNE_TTL_NEVER_EXPIRES",
    "PRUNE_COLD_START",
    "TOTAL_IS_CUMULATIVE", "TOTAL_STALE", "INDEX_EMPTY", "INDEX_MISSING_SESSION",
    "INDEX_UNREADABLE", "FILE_NO_TRANSCRIPT", "FILE_TRUNCATED_TAIL", "FILE_BAD_LINE", "FILE_JOINED_RECORDS",
    "FILE_BROKEN_PARENT", "FILE_DUPLICATE_ID", "FILE_ORPHAN_RESULT", "FILE_ORPHAN_CALL",
    "FILE_DUPLICATE_BOOTSTRAP", "FILE_GIANT", "FILE_GIANT_LINE",
)  # fmt: skip
_INFO: Final = (
    "CONFIG_INCLUDE", "CONFIG_ENV", "LARGEST_PART", "USAGE_MISSING", "ESTIMATOR_LOW", "ESTIMATOR_HIGH",
)  # fmt: skip

SEVERITIES: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(_GRAVE, "grave"),
    **dict.fromkeys(_WARN, "warn"),
    **dict.fromkeys(_INFO, "info"),
}
"""Every code with its severity, the gravest consequence first.

Grave: memory is lost, a turn is blocked, or the configuration is not used. Warn: it will cost or
surprise. Info: worth knowing. Damage of a kind that is not listed is a warning.
"""
_RANKS: Final = {code: rank for rank, code in enumerate(SEVERITIES)}
_ORDER: Final[Mapping[Severity, int]] = {"grave": 0, "warn": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """``numbers`` are the figures compared, under their settings' names; ``fix`` the settings to
    change, by the policy's keys (none unsets one); ``line`` a line of the transcript, from 1."""

    code: str
    consequence: str
    numbers: Numbers = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    session: str = ""
    agent: str = ""

    @property
    def severity(self) -> Severity:
        return SEVERITIES.get(self.code, "warn")


def by_consequence(found: Iterable[Finding]) -> list[Finding]:
    """The gravest first; what has the same code in the order of its lines."""
    return sorted(
        found,
        key=lambda f: (_ORDER[f.severity], _RANKS.get(f.code, len(_RANKS)), f.line or 0),
    )


def whole(value: float) -> int:
    """A figure as people read it."""
    return round(value)
