"""What each version does to a message before it is stored (spec pruning 7, profiles 1.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.pruning.details import (
    DETAILS_2026_5_28,
    DETAILS_2026_9,
    DetailRules,
)
from compaction_app.engine.pruning.tool_calls import (
    TOOL_CALLS_2026_3,
    TOOL_CALLS_2026_4_20,
    TOOL_CALLS_2026_5_28,
    TOOL_CALLS_2026_9,
    ToolCallRules,
)
from compaction_app.engine.pruning.truncation_rules import (
    TRUNCATION_2026_3,
    TRUNCATION_2026_4_20,
    TRUNCATION_2026_5_28,
    TRUNCATION_2026_9,
    TruncationRules,
)


@dataclass(frozen=True, slots=True)
class PersistRules:
    """How a version stores.

    ``caps_after_hooks``: whether hooks may not exceed the cap, and error results obey it.
    ``reduces_details``, ``redacts``: whether details are reduced and secrets masked.
    ``spares_transcript_only``: whether messages that only mirror a delivery leave calls pending.
    ``suppresses``: whether the suppress options exist. ``details``: how details are reduced.
    ``hides_assigned``: as ``Redaction``, for whole messages. ``calls_wait``: new calls leave older ones
    pending. ``blocked_waits``: a result that a hook kept out leaves its call pending.
    ``suppresses_errors``: answers that ended in an error can be suppressed. ``validates``: a result
    whose content is no list is refused.
    """

    truncation: TruncationRules
    calls: ToolCallRules
    caps_after_hooks: bool
    reduces_details: bool = False
    redacts: bool = False
    spares_transcript_only: bool = False
    suppresses: bool = False
    details: DetailRules = DETAILS_2026_5_28
    hides_assigned: bool = False
    calls_wait: bool = False
    blocked_waits: bool = False
    suppresses_errors: bool = True
    validates: bool = False


PERSIST_2026_3: Final = PersistRules(
    truncation=TRUNCATION_2026_3, calls=TOOL_CALLS_2026_3, caps_after_hooks=False
)


PERSIST_2026_4_20: Final = PersistRules(
    truncation=TRUNCATION_2026_4_20, calls=TOOL_CALLS_2026_4_20, caps_after_hooks=True
)


PERSIST_2026_5_28: Final = PersistRules(
    truncation=TRUNCATION_2026_5_28,
    calls=TOOL_CALLS_2026_5_28,
    caps_after_hooks=True,
    reduces_details=True,
    redacts=True,
    spares_transcript_only=True,
    suppresses=True,
)


PERSIST_2026_9: Final = replace(
    PERSIST_2026_5_28,
    truncation=TRUNCATION_2026_9,
    calls=TOOL_CALLS_2026_9,
    details=DETAILS_2026_9,
    hides_assigned=True,
    calls_wait=True,
    blocked_waits=True,
    suppresses_errors=False,
    validates=True,
)
