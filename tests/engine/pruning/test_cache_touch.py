"""When was the provider's prompt cache last used?"""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.pruning.cache_touch import cache_touch_marker, last_cache_touch_ms
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28

CURRENT = OPENCLAW_2026_5_28.pruning.cache_touch
ON = {"agents": {"defaults": {"contextPruning": {"mode": "cache-ttl"}}}}


def marker(timestamp: Any, **data: Any) -> dict[str, Any]:
    data = {"timestamp": timestamp, **data}
    return {"type": "custom", "customType": "openclaw.cache-ttl", "data": data}


def test_the_last_marker_with_a_time_counts() -> None:
    entries = [marker(1), marker(2), marker(0), marker("3"), {"type": "message"}, None]
    assert last_cache_touch_ms(entries, CURRENT) == 2
    assert last_cache_touch_ms([], CURRENT) is None


def test_only_markers_of_the_same_model_count_in_the_current_version() -> None:
    entries = [marker(1, provider=" Anthropic", modelId="M"), marker(2, provider="x"), marker(3)]
    wanted = {"provider": "anthropic", "model_id": "m "}
    assert last_cache_touch_ms(entries, CURRENT, **wanted) == 1
    assert last_cache_touch_ms(entries, OPENCLAW_2026_3.pruning.cache_touch, **wanted) == 3


@pytest.mark.parametrize(
    ("config", "flags", "reason"),
    [
        (ON, {}, "attempt_ended"),
        (ON, {"eligible": False}, "provider_not_eligible"),
        (ON, {"compacted": True}, "compacted"),
        (ON, {"timed_out": True}, "timed_out_during_compaction"),
        ({}, {}, "mode_off"),
        ({"agents": []}, {}, "mode_off"),
    ],
)
def test_an_attempt_leaves_a_marker_or_says_why_not(
    config: Any, flags: dict[str, bool], reason: str
) -> None:
    options = {"eligible": True, **flags}
    touch = cache_touch_marker(config, "p", "m", OPENCLAW_2026_5_28, 5, **options)
    assert touch.decision.reason == reason
    written = {"timestamp": 5, "provider": "p", "modelId": "m"}
    assert touch.data == (written if reason == "attempt_ended" else None)
