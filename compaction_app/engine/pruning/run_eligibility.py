"""Can cache-TTL pruning run in the circumstances of a run?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.eligibility import cache_ttl_eligible
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.circumstances import Circumstances


def run_eligibility(around: Circumstances) -> Decision:
    """The provider's eligibility, with the API that the configuration gives to its model."""
    api = model_api(around.config, around.provider, around.model)
    return cache_ttl_eligible(around.provider, around.model, around.rules, api)


def model_api(config: Any, provider: str, model: str) -> str | None:
    """The API of a listed model, else its provider's; none where the configuration names none."""
    providers = _object(_object(_object(config).get("models")).get("providers"))
    for key, entry in providers.items():
        if js.norm(key) != js.norm(provider):
            continue
        models = _object(entry).get("models")
        listed = [_object(item) for item in models] if isinstance(models, list) else []
        own = next((item.get("api") for item in listed if item.get("id") == model), None)
        api = own if isinstance(own, str) else _object(entry).get("api")
        return api if isinstance(api, str) else None
    return None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
