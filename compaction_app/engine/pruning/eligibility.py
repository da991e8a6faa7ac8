"""Does a provider cache prompts in a way that makes cache-TTL pruning worth it?

Only there is pruning installed and the cache marker written (spec pruning 12.6, profiles 1.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from compaction_app.engine.decision import Decision
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

_PROFILE: Final = ":application-inference-profile/"


@dataclass(frozen=True, slots=True)
class EligibilityRules:
    """``by_model``: providers that answer for themselves, with the beginnings of the model ids they
    take; the empty beginning takes every model. ``by_api``: whether other providers are judged by
    their API and model. ``trims``: whether blanks around provider and model are ignored.
    """

    by_model: Mapping[str, tuple[str, ...]]
    by_api: bool
    trims: bool


_EVERY: Final = ("",)
_ANTHROPIC: Final = ("anthropic/",)
ELIGIBILITY_2026_3: Final = EligibilityRules(
    by_model={
        "anthropic": _EVERY,
        "moonshot": _EVERY,
        "zai": _EVERY,
        "openrouter": ("anthropic/", "moonshot/", "moonshotai/", "zai/"),
        "kilocode": _ANTHROPIC,
    },
    by_api=False,
    trims=False,
)
ELIGIBILITY_2026_4_20: Final = EligibilityRules(
    by_model={
        "anthropic": _EVERY,
        "zai": _EVERY,
        "openrouter": ("anthropic/", "deepseek/", "moonshot/", "moonshotai/", "zai/"),
        "kilocode": _ANTHROPIC,
        "deepinfra": _ANTHROPIC,
    },
    by_api=True,
    trims=True,
)
ELIGIBILITY_2026_5_28: Final = ELIGIBILITY_2026_4_20


def cache_ttl_eligible(
    provider: str, model_id: str, rules: RuleSet, model_api: str | None = None
) -> Decision:
    """Whether cache-TTL pruning can run for a model, and why."""
    eligibility = rules.pruning.eligibility
    provider_id = js.norm(provider) if eligibility.trims else provider.lower()
    model = js.norm(model_id) if eligibility.trims else model_id.lower()
    eligible, reason = _judge(provider_id, model, model_api, eligibility)
    return Decision(
        rule="cache_ttl_eligible",
        fired=eligible,
        outcome="eligible" if eligible else "not_eligible",
        reason=reason,
        rule_set=rules.id,
        inputs={"provider": provider_id, "modelId": model, "modelApi": model_api},
    )


def _judge(provider: str, model: str, api: str | None, rules: EligibilityRules) -> tuple[bool, str]:
    beginnings = rules.by_model.get(provider)
    if beginnings is not None:
        return model.startswith(beginnings), "provider_rule"
    if not rules.by_api:
        return False, "unknown_provider"
    if provider == "anthropic-vertex" or api == "anthropic-messages":
        return True, "anthropic_api"
    if provider == "amazon-bedrock":
        return _is_claude_on_bedrock(model), "bedrock_model"
    if api == "google-generative-ai":
        return model.startswith(("gemini-2.5", "gemini-3")), "gemini_model"
    return False, "unknown_provider"


def _is_claude_on_bedrock(model: str) -> bool:
    if "anthropic.claude" in model or "anthropic/claude" in model:
        return True
    _, _, profile = model.partition(_PROFILE)
    return model.startswith("arn:") and "claude" in profile
