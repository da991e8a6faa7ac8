"""The Claude families with a window of a million tokens."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.anthropic_window import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_5_28,
    has_million_window,
    lifts_discovered,
)

FAMILIES = [
    "claude-opus-4-8",
    "claude-opus-4.8",
    "claude-opus-4-6",
    "claude-opus-4.6",
    "claude-opus-4-7",
    "claude-opus-4.7",
    "claude-sonnet-4-6",
    "claude-sonnet-4.6",
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("provider", ["anthropic", " Anthropic ", "CLAUDE-CLI"])
def test_each_family_qualifies_with_its_suffixes_and_paths(family: str, provider: str) -> None:
    for model in (family, f" {family.upper()}-20270101 ", f"some/path/{family}[1m]"):
        assert has_million_window(OPENCLAW_2026_5_28, {}, provider, model)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-opus-4-5"),
        ("anthropic", "claude-sonnet-4-7"),
        ("anthropic", "xclaude-opus-4-6"),
        ("anthropic", "claude-opus-4-6/latest"),
        ("anthropic-vertex", "claude-opus-4-6"),
        ("openrouter", "anthropic/claude-opus-4-6"),
        ("", "claude-opus-4-6"),
    ],
)
def test_near_misses_do_not_qualify(provider: str, model: str) -> None:
    assert not has_million_window(OPENCLAW_2026_5_28, {}, provider, model)


@pytest.mark.parametrize(
    ("model", "lifted"),
    [
        ({"id": "claude-opus-4-6", "provider": "claude-cli"}, True),
        ({"id": "claude-opus-4-6", "provider": " Anthropic "}, True),
        ({"id": "claude-cli/claude-opus-4.7-x"}, True),
        ({"id": "Claude-CLI/claude-sonnet-4-6", "provider": "  "}, True),
        ({"id": "claude-cli/claude-opus-4-6", "provider": 5}, True),
        ({"id": "anthropic/claude-opus-4-6"}, False),
        ({"id": "claude-opus-4-6"}, False),
        ({"id": "claude-cli/claude-opus-4-6", "provider": "openrouter"}, False),
        ({"id": 5}, False),
    ],
)
def test_without_a_provider_only_the_cli_spelling_is_lifted(
    model: dict[str, Any], lifted: bool
) -> None:
    assert lifts_discovered(OPENCLAW_2026_5_28, model) is lifted
    assert not lifts_discovered(OPENCLAW_2026_3, model)


def params(key: str, context1m: object) -> dict[str, Any]:
    entry = {"params": {"context1m": context1m}}
    return {"agents": {"defaults": {"models": {"other/x": {}, key: entry}}}}


@pytest.mark.parametrize("model", ["claude-opus-4", "claude-opus-4-1", "claude-sonnet-4-5"])
def test_early_rules_need_an_explicit_switch(model: str) -> None:
    config = params(f" Anthropic/{model.upper()} ", True)
    assert has_million_window(OPENCLAW_2026_3, config, "anthropic", model)
    assert not has_million_window(OPENCLAW_2026_3, config, "claude-cli", model)
    assert not has_million_window(OPENCLAW_2026_3, {}, "anthropic", model)


@pytest.mark.parametrize("switch", ["true", 1, False, None])
def test_the_switch_is_the_value_true_alone(switch: object) -> None:
    config = params("anthropic/claude-opus-4-6", switch)
    assert not has_million_window(OPENCLAW_2026_3, config, "anthropic", "claude-opus-4-6")


def test_the_switch_does_nothing_for_other_families() -> None:
    config = params("anthropic/claude-3-opus", True)
    assert not has_million_window(OPENCLAW_2026_3, config, "anthropic", "claude-3-opus")
