"""Byte sizes, and the settings of one agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.config.byte_size import UNITS, parse_byte_size
from compaction_app.engine.config.per_agent import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    agent_settings,
)


@pytest.mark.parametrize(
    ("value", "size"),
    [(0, 0), (1.9, 1), ("2MB ", 2 * 1024**2), ("1.5kb", 1536), ("0.5b", 1), ("3t", 3 * 1024**4), ("7", 7)],
)  # fmt: skip
def test_sizes(value: object, size: int) -> None:
    assert parse_byte_size(value) == size


@pytest.mark.parametrize(
    "value",
    [-1, "2 mb", "1e3", "", "x", "-1", "1_0", None, True, float("inf"), "1.", ".5", "2mbx", "9" * 400, "٣mb"],
)  # fmt: skip
def test_what_is_no_size(value: object) -> None:
    assert parse_byte_size(value) is None


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)), st.booleans())
def test_a_unit_multiplies(count: int, unit: str, upper: bool) -> None:
    text = f"{count}{unit.upper() if upper else unit}"
    assert parse_byte_size(text) == count * UNITS[unit]


CONFIG: dict[str, Any] = {
    "agents": {
        "defaults": {
            "bootstrapMaxChars": 1,
            "contextInjection": "always",
            "contextTokens": 9,
            "contextLimits": {"toolResultMaxChars": 1, "memoryGetMaxChars": 2},
        },
        "list": [
            "odd",
            {"id": " Ops ", "bootstrapMaxChars": 5, "contextLimits": {"toolResultMaxChars": 3}},
            {"id": "win", "contextTokens": 7},
        ],
    }
}


def test_an_agents_own_values_go_before_or_over_the_defaults() -> None:
    assert agent_settings(CONFIG, "ops", OPENCLAW_2026_5_28) == {
        "contextInjection": "always",
        "bootstrapMaxChars": 5,
        "contextLimits": {"toolResultMaxChars": 3, "memoryGetMaxChars": 2},
    }
    assert agent_settings(CONFIG, "win", OPENCLAW_2026_5_28)["contextTokens"] == 7


def test_the_earlier_version_knows_only_limits_per_agent() -> None:
    assert list(agent_settings(CONFIG, "ops", OPENCLAW_2026_4_20)) == ["contextLimits"]


@pytest.mark.parametrize(
    "config", [None, [], {"agents": {"list": {}}}, {"agents": {"defaults": 5}}]
)
def test_without_an_entry_only_defaults_remain(config: Any) -> None:
    assert agent_settings(config, "ops", OPENCLAW_2026_5_28) == {}
