"""The keys below `models` (spec budgets 8.4): providers, and the models they list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from compaction_app.engine.config.nodes import (
    POSITIVE,
    Finding,
    ListOf,
    Strict,
    Text,
    node_of,
    opaque,
)
from compaction_app.engine.policy import BY_KEY
from sessions_app.tokens import javascript as js

WINDOW: Final = node_of(BY_KEY["contextWindow"])
ANSWER: Final = node_of(BY_KEY["maxTokens"])

BUNDLED_PROVIDERS: Final = frozenset(
    [
        "amazon-bedrock",
        "amazon-bedrock-mantle",
        "anthropic",
        "anthropic-vertex",
        "arcee",
        "byteplus",
        "byteplus-plan",
        "cerebras",
        "chutes",
        "cloudflare-ai-gateway",
        "codex",
        "comfy",
        "copilot-proxy",
        "dashscope",
        "deepinfra",
        "deepseek",
        "fal",
        "fireworks",
        "github-copilot",
        "google",
        "google-antigravity",
        "google-gemini-cli",
        "google-vertex",
        "groq",
        "huggingface",
        "kilocode",
        "kimi",
        "kimi-coding",
        "litellm",
        "lmstudio",
        "microsoft-foundry",
        "minimax",
        "minimax-portal",
        "mistral",
        "modelstudio",
        "moonshot",
        "nvidia",
        "ollama",
        "openai",
        "openai-codex",
        "opencode",
        "opencode-go",
        "openrouter",
        "qianfan",
        "qwen",
        "qwencloud",
        "sglang",
        "stepfun",
        "stepfun-plan",
        "synthetic",
        "tencent-tokenhub",
        "together",
        "venice",
        "vercel-ai-gateway",
        "vllm",
        "volcengine",
        "volcengine-plan",
        "vydra",
        "xai",
        "xiaomi",
        "zai",
    ]
)
"""Providers that need neither a base URL nor a model list of their own."""


def _custom_provider(name: str, provider: Mapping[str, Any]) -> list[Finding]:
    """A provider that does not come with the runtime has to say where it is and what it offers."""
    if js.norm(name) in BUNDLED_PROVIDERS:
        return []
    return [
        Finding(
            key,
            f"custom model providers must declare {key}; provider overlays without {key} are only "
            "supported for bundled providers",
        )
        for key in ("baseUrl", "models")
        if not js.is_truthy(provider.get(key))
    ]


MODEL: Final = Strict(
    {
        "id": Text(shortest=1),
        "name": Text(shortest=1),
        **opaque("api baseUrl reasoning input cost"),
        "contextWindow": WINDOW,
        "contextTokens": POSITIVE,
        "maxTokens": ANSWER,
        **opaque("params agentRuntime headers compat metadataSource thinkingLevelMap mediaInput"),
    },
    required=frozenset({"id", "name"}),
)
PROVIDER: Final = Strict(
    {
        "baseUrl": Text(shortest=1),
        **opaque("apiKey auth api"),
        "contextWindow": WINDOW,
        "contextTokens": POSITIVE,
        "maxTokens": ANSWER,
        **opaque(
            "timeoutSeconds region injectNumCtxForOpenAICompat params agentRuntime localService "
            "headers authHeader request name"
        ),
        "models": ListOf(MODEL),
    },
    further=_custom_provider,
)
