"""Windows that belong to a provider."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine import purpose_window, run_window, window
from compaction_app.engine.window import WindowRequest
from compaction_app.engine.window_cache import OPENCLAW_2026_9, build_cache, owned_key
from compaction_app.engine.window_owned import projected_window

CHAIN = window.OPENCLAW_2026_9


def _config(**model: Any) -> dict[str, Any]:
    row = {"id": "m", "name": "m", **model}
    return {
        "models": {"providers": {"p": {"models": [row]}}},
        "agents": {"defaults": {"contextTokens": 5}},
    }


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ({"contextTokens": 6000, "contextWindow": 5000}, 5000),
        ({"contextTokens": 4000, "contextWindow": 5000}, 4000),
        ({"contextWindow": 5000}, 5000),
        ({}, 200_000),
    ],
)
def test_flush_reply_and_run_agree_and_the_defaults_are_not_asked(
    model: dict[str, Any], tokens: int
) -> None:
    config = _config(**model)
    cache = build_cache(OPENCLAW_2026_9, config["models"], ())
    request = WindowRequest(config, "m", "p")
    rules = purpose_window.OPENCLAW_2026_9
    assert rules.flush(CHAIN, cache, request, 5).tokens == tokens
    assert rules.reply(CHAIN, cache, request, 5).tokens == tokens
    found = run_window.resolve_run_window(run_window.OPENCLAW_2026_9, config, "p", "m", {})
    assert found.tokens == tokens


def test_another_providers_value_is_only_taken_where_that_is_allowed() -> None:
    cache = {owned_key("q", "m"): 9, "m": 7}
    request = WindowRequest({}, "m", "p")
    assert projected_window(CHAIN, cache, request).tokens == 7
    assert projected_window(CHAIN, cache, request, unscoped=False).tokens is None


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [("anthropic", "claude-opus-5", 1_000_000), ("claude-cli", "claude-opus-5", None),
     ("claude-cli", "claude-opus-5[1m]", 1_000_000), ("anthropic", "claude-opus-4-5", None)],
)  # fmt: skip
def test_the_million_of_some_families(provider: str, model: str, tokens: int | None) -> None:
    assert projected_window(CHAIN, {}, WindowRequest({}, model, provider)).tokens == tokens
