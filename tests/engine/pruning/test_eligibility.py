"""Does a provider cache prompts in a way that makes pruning worth it?"""

from __future__ import annotations

import pytest

from compaction_app.engine.pruning.eligibility import cache_ttl_eligible
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28

ARN = "arn:aws:bedrock:us-east-1:1:application-inference-profile/"


@pytest.mark.parametrize(
    ("provider", "model", "api", "eligible"),
    [
        (" Anthropic ", "x", None, True),
        ("anthropic-vertex", "x", None, True),
        ("zai", "glm", None, True),
        ("openrouter", "deepseek/r1", None, True),
        ("openrouter", "openai/gpt", "anthropic-messages", False),
        ("kilocode", "anthropic/claude", None, True),
        ("deepinfra", "meta/llama", None, False),
        ("amazon-bedrock", "us.anthropic.claude-3", None, True),
        ("amazon-bedrock", f"{ARN}my-claude", None, True),
        ("amazon-bedrock", f"{ARN}nova", None, False),
        ("custom", "x", "anthropic-messages", True),
        ("google", "gemini-3-pro", "google-generative-ai", True),
        ("google", "gemini-2.0", "google-generative-ai", False),
        ("google", "gemini-3-pro", None, False),
        ("moonshot", "kimi", None, False),
    ],
)
def test_current(provider: str, model: str, api: str | None, eligible: bool) -> None:
    assert cache_ttl_eligible(provider, model, OPENCLAW_2026_5_28, api).fired is eligible


@pytest.mark.parametrize(
    ("provider", "model", "eligible"),
    [("Anthropic", "x", True), ("anthropic ", "x", False), ("moonshot", "kimi", True)],
)
def test_2026_3(provider: str, model: str, eligible: bool) -> None:
    assert cache_ttl_eligible(provider, model, OPENCLAW_2026_3).fired is eligible


def test_the_reason_names_what_was_looked_at() -> None:
    decision = cache_ttl_eligible(
        "google", "gemini-2.0", OPENCLAW_2026_5_28, "google-generative-ai"
    )
    assert decision.reason == "gemini_model" and decision.inputs["modelId"] == "gemini-2.0"
