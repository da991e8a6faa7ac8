"""What the configuration of context pruning asks for."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.pruning.cache_ttl_settings import (
    CacheTtlSettings,
    HardClear,
    SoftTrim,
    cache_ttl_settings,
    context_pruning,
)
from compaction_app.engine.pruning.duration import DURATION_2026_5_28


def settings(**raw: Any) -> CacheTtlSettings | None:
    return cache_ttl_settings({"mode": "cache-ttl", **raw}, DURATION_2026_5_28)


@pytest.mark.parametrize("config", [None, {}, {"agents": {"defaults": 3}}])
def test_a_configuration_without_the_setting_holds_none(config: Any) -> None:
    assert context_pruning(config) is None


@pytest.mark.parametrize("raw", [None, {}, {"mode": "off"}, {"mode": "Cache-TTL"}, "cache-ttl", []])
def test_any_other_mode_means_off(raw: Any) -> None:
    assert cache_ttl_settings(raw, DURATION_2026_5_28) is None


@pytest.mark.parametrize(
    "raw",
    [
        {"ttl": 60},
        {"ttl": "bogus"},
        {"keepLastAssistants": "2"},
        {"softTrimRatio": None},
        {"minPrunableToolChars": True},
        {"tools": 0},
        {"softTrim": [], "hardClear": "x"},
        {"softTrim": {"maxChars": float("nan")}, "hardClear": {"enabled": 1, "placeholder": " "}},
    ],
)
def test_a_value_of_the_wrong_type_leaves_the_default(raw: dict[str, Any]) -> None:
    assert settings(**raw) == CacheTtlSettings()


def test_values_are_floored_clamped_and_trimmed() -> None:
    assert settings(
        ttl="90",
        keepLastAssistants=2.9,
        softTrimRatio=1.7,
        hardClearRatio=-1,
        minPrunableToolChars=-4,
        tools={"deny": ["x"]},
        softTrim={"maxChars": 10.9, "headChars": -1},
        hardClear={"enabled": False, "placeholder": " gone "},
    ) == CacheTtlSettings(
        ttl_ms=5_400_000,
        keep_last_assistants=2,
        soft_trim_ratio=1,
        hard_clear_ratio=0,
        min_prunable_tool_chars=0,
        tools={"deny": ["x"]},
        soft_trim=SoftTrim(max_chars=10, head_chars=0),
        hard_clear=HardClear(enabled=False, placeholder="gone"),
    )
