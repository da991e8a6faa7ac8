"""What does the model-to-window map hold? (spec budgets 1.2)

A flat map from model keys to tokens, filled from the configuration and from the model registry.
Discovered values may only lower what is there; configured values overwrite whatever is there, and
are applied once more at the end. Nothing is changed in place: each step returns a new map.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine import anthropic_window
from compaction_app.engine.config_value import first_number, models_of, provider_entries
from sessions_app.tokens import javascript as js

Cache = Mapping[str, int | float]

BOTH: Final = ("contextTokens", "contextWindow")
WINDOW_ONLY: Final = ("contextWindow",)


@dataclass(frozen=True, slots=True)
class CacheRules:
    """What differs by version: the fields read, in order, of a model and of its provider.

    ``owned``: a value is also kept under a key that names its provider, and what is a window is kept
    apart from what is a token limit (spec profiles 5.1).
    """

    model_fields: tuple[str, ...]
    provider_fields: tuple[str, ...]
    million: anthropic_window.MillionWindowRules
    owned: bool = False


OPENCLAW_2026_3: Final = CacheRules(WINDOW_ONLY, (), anthropic_window.OPENCLAW_2026_3)
OPENCLAW_2026_4_20: Final = CacheRules(BOTH, (), anthropic_window.OPENCLAW_2026_3)
OPENCLAW_2026_5_28: Final = CacheRules(BOTH, BOTH, anthropic_window.OPENCLAW_2026_5_28)

OPENCLAW_2026_9: Final = CacheRules(BOTH, (), anthropic_window.OPENCLAW_2026_9, owned=True)


def owned_key(provider: str, model: str) -> str:
    """The key of a value that belongs to a provider."""
    return f"\0provider:{js.norm(provider)}\0{model}"


def window_key(key: str) -> str:
    """The key of a window, where windows and token limits are kept apart."""
    return f"\0window:{key}"


def apply_configured(rules: CacheRules, cache: Cache, models_config: object) -> Cache:
    """The map after the configured windows of ``models_config`` (the ``models`` section).

    They overwrite, larger or not, so that the last provider wins for an id that several list. The
    first field that is a number decides, also when it is 0 or NaN and so stores nothing.
    """
    written = dict(cache)
    for name, provider in provider_entries({"models": models_config}):
        shared = first_number(provider, rules.provider_fields)
        for model in models_of(provider):
            model_id = model.get("id")
            if rules.owned:
                written |= _owned_configured(name, model)
                continue
            own = first_number(model, rules.model_fields)
            tokens = shared if own is None else own
            if isinstance(model_id, str) and model_id and tokens is not None and tokens > 0:
                written[model_id] = tokens
    return written


def _owned_configured(provider: str, model: Mapping[str, Any]) -> dict[str, int | float]:
    """The limit of a configured model, or its window where there is no limit, under all its keys."""
    model_id, prefix = model.get("id"), f"{js.norm(provider)}/"
    if not isinstance(model_id, str) or not model_id:
        return {}
    keys = [model_id, owned_key(provider, model_id)]
    if model_id.startswith(prefix):
        keys.append(owned_key(provider, model_id.removeprefix(prefix)))
    limit, window = (model.get(field) for field in BOTH)
    if js.is_finite(limit) and limit > 0:
        return dict.fromkeys(keys, limit)
    if js.is_finite(window) and window > 0:
        return dict.fromkeys(map(window_key, keys), window)
    return {}


def apply_discovered(rules: CacheRules, cache: Cache, models: Iterable[object]) -> Cache:
    """The map after what the model registry reports; a value is only ever lowered."""
    written = dict(cache)
    for model in models:
        if not isinstance(model, Mapping):
            continue
        model_id = model.get("id")
        tokens = _discovered_tokens(rules, model)
        if not isinstance(model_id, str) or not model_id or tokens is None or not tokens > 0:
            continue
        for key in _discovered_keys(rules, model_id, model.get("provider")):
            if key not in written or tokens < written[key]:
                written[key] = tokens
    return written


def _discovered_keys(rules: CacheRules, model_id: str, provider: object) -> tuple[str, ...]:
    if rules.owned and isinstance(provider, str) and js.norm(provider):
        return model_id, owned_key(provider, model_id)
    return (model_id,)


def build_cache(rules: CacheRules, models_config: object, discovered: Iterable[object]) -> Cache:
    """The map after a full load: configured, discovered, configured again."""
    cache = apply_configured(rules, {}, models_config)
    cache = apply_discovered(rules, cache, discovered)
    return apply_configured(rules, cache, models_config)


def _discovered_tokens(rules: CacheRules, model: Mapping[str, Any]) -> int | float | None:
    if anthropic_window.lifts_discovered(rules.million, model):
        return rules.million.window_tokens
    reported = first_number(model, rules.model_fields)
    return None if reported is None else js.trunc(reported)
