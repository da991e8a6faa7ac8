"""Which messages does a run that timed out in a compaction leave behind? (spec budgets 6.4)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Messages = Sequence[Mapping[str, Any]]

_CONTINUABLE: Final = frozenset(
    {"user", "toolResult", "branchSummary", "compactionSummary", "custom"}
)


@dataclass(frozen=True, slots=True)
class SnapshotRules:
    """What differs by version: whether the messages are cut back to one a model can go on from."""

    trims: bool


OPENCLAW_2026_3: Final = SnapshotRules(trims=False)
OPENCLAW_2026_4_20: Final = OPENCLAW_2026_3
OPENCLAW_2026_5_28: Final = SnapshotRules(trims=True)


@dataclass(frozen=True, slots=True)
class TimeoutSnapshot:
    messages: Messages
    session_id: str
    source: Literal["pre-compaction", "current"]


def timeout_snapshot(
    rules: SnapshotRules,
    *,
    timed_out_in_compaction: bool,
    current: Messages,
    current_session_id: str,
    before: Messages | None,
    before_session_id: str,
) -> TimeoutSnapshot:
    """The messages from before the compaction where they can be continued, else the current ones."""
    if not timed_out_in_compaction:
        return TimeoutSnapshot(current, current_session_id, "current")
    kept = _continuable(rules, before) if before is not None else None
    if kept or (kept is not None and not rules.trims):
        return TimeoutSnapshot(kept, before_session_id, "pre-compaction")
    return TimeoutSnapshot(_continuable(rules, current), current_session_id, "current")


def _continuable(rules: SnapshotRules, messages: Messages) -> Messages:
    """Without the messages at the end from which a model cannot continue."""
    end = len(messages)
    while rules.trims and end and not _can_continue_from(messages[end - 1]):
        end -= 1
    return messages[:end]


def _can_continue_from(message: Mapping[str, Any]) -> bool:
    role = message.get("role")
    if role == "bashExecution":
        return not message.get("excludeFromContext")
    return role in _CONTINUABLE
