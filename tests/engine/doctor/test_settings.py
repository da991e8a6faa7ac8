"""Where each value in force comes from."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.doctor.effective import Effective, effective_settings
from compaction_app.engine.policy import SETTINGS
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, OPENCLAW_2026_4_20
from tests.engine.doctor.configs import ILL, read


def settings(config: Any, agent: str = "main", **more: Any) -> dict[str, Effective]:
    found = effective_settings(config, "acme", "m", agent, more.get("rules", DEFAULT_RULE_SET))
    return {each.setting.key: each for each in found}


def test_every_setting_of_the_record_is_there_once() -> None:
    assert list(settings({})) == [setting.key for setting in SETTINGS]
    assert {each.source for each in settings({}).values()} == {"default"}


def test_what_the_file_sets_is_told_with_its_place() -> None:
    found = settings(read(ILL).values)
    assert found["contextTokens"].value == 128_000
    assert found["contextTokens"].place == "agents.defaults.contextTokens"
    assert found["contextWindow"].place == "models.providers.acme.models[m].contextWindow"
    assert {found[key].source for key in ("contextTokens", "contextWindow")} == {"explicit"}


def test_what_the_runtime_fills_in_is_told() -> None:
    found = settings({"models": {"providers": {"acme": {"models": [{"id": "m", "name": "m"}]}}}})
    assert (found["contextWindow"].value, found["contextWindow"].source) == (
        200_000,
        "materialised",
    )
    assert (found["maxTokens"].value, found["maxTokens"].source) == (8_192, "materialised")


def test_an_agents_own_value_is_told_for_that_agent_alone() -> None:
    key = "contextLimits.toolResultMaxChars"
    config = read(ILL).values
    own = settings(config, "ops")[key]
    assert (own.value, own.source) == (9_000, "agent")
    assert own.place == f"agents.list[ops].{key}"
    assert settings(config, "main")[key].source == "default"


def test_every_version_knows_an_agents_limits() -> None:
    config = {"agents": {"list": [{"id": "a", "contextLimits": {"toolResultMaxChars": 9_000}}]}}
    found = settings(config, "a", rules=OPENCLAW_2026_4_20)
    assert found["contextLimits.toolResultMaxChars"].source == "agent"


@pytest.mark.parametrize("value", ["many", -1, [1]])
def test_a_value_that_is_refused_leaves_the_default_and_says_so(value: Any) -> None:
    config = {"agents": {"defaults": {"compaction": {"keepRecentTokens": value}}}}
    found = settings(config)["compaction.keepRecentTokens"]
    assert (found.value, found.source) == (20_000, "default")
    assert "Not accepted" in found.note


def test_where_the_gateway_and_the_commands_differ_both_are_told() -> None:
    mode = settings({"agents": {"defaults": {}}})["compaction.mode"]
    assert (mode.value, mode.source) == ("default", "default")
    assert "safeguard" in mode.note
    signed_in = {"auth": {"profiles": {"x": {"provider": "anthropic", "mode": "api_key"}}}}
    pruning = settings(signed_in)["contextPruning.mode"]
    assert (pruning.value, "cache-ttl" in pruning.note) == ("off", True)
