"""The codes that decisions are filed under, for filters: no list asks a table for all its values.

What a reason means stands in ``engine.reasons``; tests hold the recorded runs against these lists.
"""

from __future__ import annotations

from typing import Final

from compaction_app.engine.reasons import SENTENCES

RULES: Final = (
    "cache_touch_marker", "cache_ttl_pruning", "compaction", "compaction_cut", "inner_trigger",
    "memory_flush", "overflow_classification", "overflow_recovery", "preflight", "prompt_route",
    "soft_guard", "timeout_recovery", "tool_result_recovery",
)  # fmt: skip
"""Rules that run within a turn."""

OUTCOMES: Final = (
    "cancelled", "compact", "compact_only", "compact_then_truncate", "compacted", "cut", "failed", "fits",
    "flush", "give_up", "hard_clear", "incomplete", "none", "nothing", "other", "overflow", "pass", "skip",
    "skipped", "soft_trim", "split_turn", "truncate", "truncate_tool_results_only", "unchanged", "write",
)  # fmt: skip

REASONS: Final = tuple(sorted({*SENTENCES, "compacted"}))
"""Those with a sentence, and those that say enough themselves."""
