"""How many characters one tool result may hold."""

from __future__ import annotations

import math

import pytest

from compaction_app.engine.pruning import caps
from compaction_app.engine.pruning.caps import CAPS_2026_3, CAPS_2026_4_20, CAPS_2026_5_28

LIMITS = {"toolResultMaxChars": 5000}
CONFIG = {
    "agents": {
        "defaults": {"contextLimits": LIMITS},
        "list": ["x", {"id": "Coder Two", "contextLimits": {"toolResultMaxChars": 90_000}}],
    }
}


@pytest.mark.parametrize(
    ("window", "cap"),
    [(8000, 9600), (99_999, 16_000), (100_000, 32_000), (200_000, 64_000), (math.inf, 16_000)],
)
def test_the_window_picks_the_cap_and_bounds_it(window: float, cap: int) -> None:
    assert caps.max_chars(window, CAPS_2026_5_28) == cap


def test_earlier_versions_have_one_cap() -> None:
    assert caps.max_chars(1_000_000, CAPS_2026_4_20) == 16_000
    assert caps.max_chars(1_000_000, CAPS_2026_3) == 400_000
    assert caps.session_max_chars(8000, CONFIG, None, CAPS_2026_3) == 400_000


def test_an_agent_overrides_the_default_by_its_normal_id() -> None:
    def cap(agent: str | None) -> float:
        return caps.live_max_chars(200_000, CONFIG, agent, CAPS_2026_5_28)

    assert cap("coder-two") == 90_000
    assert cap("nobody") == cap(None) == 5000


def test_a_configured_zero_counts_and_means_one_character() -> None:
    config = {"agents": {"defaults": {"contextLimits": {"toolResultMaxChars": 0}}}}
    assert caps.live_max_chars(200_000, config, None, CAPS_2026_5_28) == 1


def test_a_session_takes_the_cap_of_its_window() -> None:
    assert caps.session_max_chars(8000, {}, None, CAPS_2026_5_28) == 9600
    assert caps.session_max_chars(200_000, CONFIG, "coder-two", CAPS_2026_4_20) == 90_000


def test_no_window_leaves_the_base_cap() -> None:
    assert caps.session_max_chars(None, CONFIG, None, CAPS_2026_5_28) == 16_000


def test_only_the_current_version_floors_the_guard_s_option() -> None:
    options = {"maxToolResultChars": 123.9}
    assert caps.storing_max_chars(options, CAPS_2026_5_28) == 123
    assert caps.storing_max_chars(options, CAPS_2026_4_20) == 123.9
    assert caps.storing_max_chars({}, CAPS_2026_4_20) == 16_000


@pytest.mark.parametrize("config", [None, [], {"agents": 3}, {"agents": {"list": {}}}])
def test_a_malformed_configuration_sets_nothing(config: object) -> None:
    assert caps.live_max_chars(200_000, config, "a", CAPS_2026_5_28) == 64_000
