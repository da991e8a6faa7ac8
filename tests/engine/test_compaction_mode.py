"""Mode, the inner trigger's switch, and the time a compaction has."""

from __future__ import annotations

import math
from typing import Any

import pytest

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction_mode import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    compaction_timeout_ms,
    effective_mode,
    inner_trigger_switch,
    overflows_silently,
    prompt_reserve_source,
)


def config(**compaction: Any) -> dict[str, Any]:
    return {"agents": {"defaults": {"compaction": compaction}}}


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        (None, "default"),
        ({}, "default"),
        (config(), "default"),
        (config(mode="weird"), "default"),
        (config(provider=""), "default"),
        (config(mode="safeguard"), "safeguard"),
        (config(mode="default", provider="p"), "safeguard"),
    ],
)
def test_a_provider_or_the_mode_itself_makes_it_safeguard(given: object, mode: str) -> None:
    assert effective_mode(given) == mode


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        (" ZAI ", None, None),
        (None, "Z-AI/glm-4", None),
        (None, "OpenRouter/Z-AI/x", None),
        (None, "GLM-4", None),
        ("x", "m", "https://api.z.ai/v4"),
    ],
)
def test_these_endpoints_overflow_silently(provider: Any, model: Any, base_url: Any) -> None:
    assert overflows_silently(provider, model, base_url)


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        (None, None, None),
        ("z.ai", "m", None),
        ("ollama", "ollama/glm-4", None),
        ("x", "aglm-4", "https://example.com"),
        (5, 5, 5),
    ],
)
def test_these_do_not(provider: Any, model: Any, base_url: Any) -> None:
    assert not overflows_silently(provider, model, base_url)


@pytest.mark.parametrize("owns", ["yes", 1, None, False])
def test_a_context_engine_owns_compaction_only_when_it_says_true(owns: object) -> None:
    assert not inner_trigger_switch(OPENCLAW_2026_5_28, "r", engine_owns_compaction=owns).fired


def test_the_inner_trigger_is_off_for_three_reasons_now_and_for_one_before() -> None:
    def reason(rules: Any, **given: Any) -> str:
        return inner_trigger_switch(rules, "r", **given).reason

    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20, OPENCLAW_2026_5_28):
        assert reason(rules, engine_owns_compaction=True) == "context_engine_owns_compaction"
        assert reason(rules, mode="default") == "inner_trigger_on"
    assert reason(OPENCLAW_2026_5_28, mode="safeguard") == "safeguard_mode"
    assert reason(OPENCLAW_2026_5_28, silent_overflow=True) == "silent_overflow_model"
    assert reason(OPENCLAW_2026_4_20, mode="safeguard") == "inner_trigger_on"
    assert reason(OPENCLAW_2026_4_20, silent_overflow=True) == "inner_trigger_on"


def test_a_safeguard_run_starts_from_the_runtimes_own_reserve() -> None:
    runtime, applied = CompactionSettings(), CompactionSettings(reserve_tokens=40_000)
    assert prompt_reserve_source(runtime, applied, safeguard_switched_off=True) == 16_384
    assert prompt_reserve_source(runtime, applied, safeguard_switched_off=False) == 40_000


@pytest.mark.parametrize(
    ("seconds", "now", "before"),
    [
        (None, 900_000, 900_000),
        (0, 900_000, 900_000),
        (-1, 900_000, 900_000),
        (math.nan, 900_000, 900_000),
        (math.inf, 900_000, 900_000),
        ("60", 900_000, 900_000),
        (0.5, 900_000, 0),
        (1.9, 1_000, 1_000),
        (2_147_000, 2_147_000_000, 2_147_000_000),
        (2_147_001, 2_147_000_000, 2_147_000_000),
    ],
)
def test_a_timeout_is_whole_seconds_up_to_a_limit(seconds: object, now: int, before: int) -> None:
    given = config(timeoutSeconds=seconds)
    assert compaction_timeout_ms(OPENCLAW_2026_5_28, given) == now
    assert compaction_timeout_ms(OPENCLAW_2026_4_20, given) == before


def test_the_earliest_rules_waited_five_minutes() -> None:
    assert compaction_timeout_ms(OPENCLAW_2026_3, {}) == 300_000
