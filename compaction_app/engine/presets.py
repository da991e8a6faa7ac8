"""Policies to start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Preset:
    """Named changes to the runtime's defaults, by setting key."""

    name: str
    title: str
    help: str
    changes: Mapping[str, Any]


PRESETS: Final = (
    Preset(
        "defaults", "Runtime defaults", "Nothing configured; the window stays the session's.", {}
    ),
    Preset(
        "provider-window",
        "Provider window only",
        "No contextTokens: every chain takes the model's window from its provider.",
        {"contextTokens": None},
    ),
    Preset(
        "reserve-equals-floor",
        "Reserve equal to floor",
        "reserveTokens and its floor both 20,000, so that settings and lines agree.",
        {"compaction.reserveTokens": 20_000, "compaction.reserveTokensFloor": 20_000},
    ),
    Preset(
        "small-window",
        "Small window",
        "For 32,000 tokens: a floor that leaves room, and a kept tail well below the line.",
        {
            "contextWindow": 32_000,
            "contextTokens": None,
            "compaction.reserveTokens": 8_000,
            "compaction.reserveTokensFloor": 6_000,
            "compaction.memoryFlush.softThresholdTokens": 2_000,
            "compaction.keepRecentTokens": 6_000,
        },
    ),
    Preset(
        "small-summary-model",
        "Small summary model",
        "A cheap model writes the summaries: short answers, and less history for it to read.",
        {
            "compaction.model": "small-summary-model",
            "maxTokens": 4_096,
            "compaction.maxHistoryShare": 0.3,
        },
    ),
)
