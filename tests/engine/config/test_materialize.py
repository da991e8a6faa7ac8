"""What the runtime adds to a configuration."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.config.materialize import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    anthropic_sign_in,
    materialize,
)


def profile(provider: str, mode: str) -> dict[str, str]:
    return {"provider": provider, "mode": mode}


def load(config: Any, **more: Any) -> Any:
    return materialize(config, OPENCLAW_2026_5_28, **more)["agents"]["defaults"]


def test_loading_makes_safeguard_the_mode_and_a_snapshot_does_not() -> None:
    assert load({})["compaction"] == {"mode": "safeguard"}
    assert "compaction" not in load({}, mode="snapshot")
    given_mode = {"agents": {"defaults": {"compaction": {"mode": "default"}}}}
    assert load(given_mode)["compaction"] == {"mode": "default"}


def test_what_is_set_stays() -> None:
    config = {
        "agents": {
            "defaults": {"maxConcurrent": 1, "subagents": {"archiveAfterMinutes": 5}},
            "list": [],
        }
    }
    filled = materialize(config, OPENCLAW_2026_5_28)
    assert filled["agents"]["list"] == []
    assert filled["agents"]["defaults"]["maxConcurrent"] == 1
    assert filled["agents"]["defaults"]["subagents"] == {
        "maxConcurrent": 8,
        "archiveAfterMinutes": 5,
    }


@pytest.mark.parametrize(
    ("environment", "every"),
    [({}, None), ({"ANTHROPIC_API_KEY": " "}, None), ({"ANTHROPIC_API_KEY": "k"}, "30m"),
     ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_OAUTH_TOKEN": "t"}, "1h")],
)  # fmt: skip
def test_anthropic_credentials_switch_pruning_on(environment: Any, every: str | None) -> None:
    found = load({}, environment=environment)
    if every is None:
        assert "contextPruning" not in found
    else:
        assert found["contextPruning"] == {"mode": "cache-ttl", "ttl": "1h"}
        assert found["heartbeat"] == {"every": every}
    assert "contextPruning" not in load({}, environment=environment, mode="snapshot")


def test_a_pruning_mode_that_is_set_is_kept_and_so_is_a_ttl() -> None:
    environment = {"ANTHROPIC_API_KEY": "k"}
    off = {"agents": {"defaults": {"contextPruning": {"mode": "off"}}}}
    assert load(off, environment=environment)["contextPruning"] == {"mode": "off"}
    ttl = {"agents": {"defaults": {"contextPruning": {"ttl": "5m"}}}}
    assert load(ttl, environment=environment)["contextPruning"]["ttl"] == "5m"


def test_profiles_are_asked_in_their_order_and_else_must_agree() -> None:
    profiles = {"a": profile("anthropic", "api_key"), "b": profile("claude-cli", "token")}
    assert anthropic_sign_in({"auth": {"profiles": profiles}}, {}) is None
    order = {"anthropic": ["x", "b"]}
    assert anthropic_sign_in({"auth": {"profiles": profiles, "order": order}}, {}) == "oauth"
    del profiles["b"]
    assert anthropic_sign_in({"auth": {"profiles": profiles}}, {}) == "api_key"


def model(entry: Any, **provider: Any) -> Any:
    config = {"models": {"providers": {"p": {"models": [entry], **provider}}}}
    return materialize(config, OPENCLAW_2026_4_20)["models"]["providers"]["p"]["models"][0]


@pytest.mark.parametrize(
    ("entry", "window", "most"),
    [
        ({}, 200_000, 8192),
        ({"contextWindow": 0}, 200_000, 8192),
        ({"contextWindow": 4096}, 4096, 4096),
        ({"contextWindow": 4096, "maxTokens": 99_999}, 4096, 4096),
        ({"maxTokens": 16_000}, 200_000, 16_000),
    ],
)
def test_a_listed_model_always_has_a_window(entry: Any, window: int, most: int) -> None:
    filled = model(entry, contextWindow=9000)
    assert (filled["contextWindow"], filled["maxTokens"]) == (window, most)
    assert filled["input"] == ["text"] and filled["reasoning"] is False


def test_costs_that_are_set_are_kept() -> None:
    assert model({"cost": {"input": 3}})["cost"] == {
        "input": 3,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
    }


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["agents", "defaults", "models", "providers", "auth", "profiles", "order", "anthropic",
                                       "compaction", "mode", "provider", "heartbeat", "subagents"]), inner, max_size=3),
    max_leaves=15,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["agents", "models", "auth"]), JSON))
def test_any_object_can_be_filled_and_is_left_as_it_was(config: Any) -> None:
    before = repr(config)
    once = materialize(config, OPENCLAW_2026_5_28)
    assert repr(config) == before
    assert materialize(once, OPENCLAW_2026_5_28) == once
