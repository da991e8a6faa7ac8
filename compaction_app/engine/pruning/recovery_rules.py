"""How each version cuts the tool results of a whole history (spec pruning 5, 6, profiles 1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

from compaction_app.engine.pruning.caps import (
    CAPS_2026_3,
    CAPS_2026_4_20,
    CAPS_2026_5_28,
    CAPS_2026_9,
    CHARS_PER_TOKEN,
    CapRules,
)
from compaction_app.engine.pruning.truncation_rules import (
    TRUNCATION_2026_3,
    TRUNCATION_2026_4_20,
    TRUNCATION_2026_5_28,
    TRUNCATION_2026_9,
    Notice,
    TruncationRules,
    recovery_notice,
)
from sessions_app.tokens import javascript as js


@dataclass(frozen=True, slots=True)
class RecoveryRules:
    """What a version cuts when a history is too large.

    ``aggregate``: in which order results are cut until all fit together, or none where the version has
    no such step. ``own_aggregate_budget``: whether a caller may set it apart from the single cap.
    ``least_cap_chars`` bounds both caps from below.
    ``crowded_notice`` replaces the notice when the budget does not even hold one notice a result.
    ``prompt_aggregate_caps``: how many single caps the copy for a prompt may hold; none where the
    version does not cut that copy.
    """

    truncation: TruncationRules
    caps: CapRules
    min_keep_chars: int
    aggregate: Literal["oldest_first", "newest_first"] | None
    nothing_to_do: str
    least_cap_chars: float = 1
    own_aggregate_budget: bool = False
    crowded_notice: Notice | None = None
    prompt_aggregate_caps: int | None = None
    aggregate_window_share: float = 0
    aggregate_caps: int = 1
    elides: bool = False

    def aggregate_budget(self, single: float, window_tokens: float) -> float:
        """What all results together may hold where no caller says otherwise, characters."""
        share = js.floor(window_tokens * CHARS_PER_TOKEN * self.aggregate_window_share)
        least = js.maximum(self.least_cap_chars, single)
        return js.maximum(self.aggregate_caps * least, share)


RECOVERY_2026_3: Final = RecoveryRules(
    truncation=TRUNCATION_2026_3,
    caps=CAPS_2026_3,
    min_keep_chars=2000,
    aggregate=None,
    nothing_to_do="no oversized tool results",
    least_cap_chars=-math.inf,
)


RECOVERY_2026_4_20: Final = RecoveryRules(
    truncation=TRUNCATION_2026_4_20,
    caps=CAPS_2026_4_20,
    min_keep_chars=0,
    aggregate="newest_first",
    nothing_to_do="no oversized or aggregate tool results",
)


RECOVERY_2026_5_28: Final = RecoveryRules(
    truncation=TRUNCATION_2026_5_28,
    caps=CAPS_2026_5_28,
    min_keep_chars=0,
    aggregate="oldest_first",
    nothing_to_do="no oversized or aggregate tool results",
    own_aggregate_budget=True,
    crowded_notice=recovery_notice,
    prompt_aggregate_caps=4,
)


RECOVERY_2026_9: Final = replace(
    RECOVERY_2026_5_28,
    truncation=TRUNCATION_2026_9,
    caps=CAPS_2026_9,
    aggregate_caps=4,
    aggregate_window_share=0.5,
    elides=True,
)
