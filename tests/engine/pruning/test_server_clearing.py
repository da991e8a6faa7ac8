"""What a provider that clears results itself is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.pruning.server_clearing import context_management, excluded_tools

MODEL = {"provider": "anthropic", "contextWindow": 400_000}
PRUNING: dict[str, Any] = {"cacheTtlPruning": {}}


def test_the_trigger_grows_with_the_window() -> None:
    asked, beta = context_management(MODEL, PRUNING, {}, "a")
    (edit,) = asked["edits"]
    assert (edit["trigger"]["value"], edit["clear_at_least"]["value"]) == (120_000, 20_000)
    assert beta == "a,context-management-2025-06-27"


@pytest.mark.parametrize(
    ("model", "header"),
    [({**MODEL, "baseUrl": "https://proxy.example"}, "a"), ({"provider": "openai"}, "a"), (MODEL, None)],
)  # fmt: skip
def test_other_endpoints_are_not_asked(model: dict[str, Any], header: str | None) -> None:
    assert context_management(model, PRUNING, {}, header) == (None, header)


def test_what_a_request_already_asks_is_left_alone() -> None:
    payload = {"context_management": {"edits": []}}
    assert context_management(MODEL, PRUNING, payload, "a") == ({"edits": []}, "a")


def test_a_server_compaction_comes_behind() -> None:
    options = {**PRUNING, "anthropicServerCompaction": True}
    asked, beta = context_management(MODEL, options, {}, "a")
    assert [edit["type"] for edit in asked["edits"]][1] == "compact_20260112"
    assert beta is not None and beta.endswith("compact-2026-01-12")


def test_tools_that_may_not_be_pruned_are_left_out() -> None:
    used = [{"content": [{"type": "tool_use", "name": "Write"}, {"type": "text"}]}, "odd"]
    payload = {"tools": [{"name": "read"}, {"name": "exec"}], "messages": used}
    assert excluded_tools({"allow": ["re*"]}, payload) == ["Write", "exec"]
    assert excluded_tools({"deny": [" Gone ", "e*"]}, payload) == ["exec", "gone"]
    assert excluded_tools(None, {}) == []
