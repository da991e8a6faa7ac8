"""Which window does a model have, where a provider owns what is known of its models? (2026.9, spec
profiles 5.1)

Since 2026.9 a cached value belongs to a provider, a configured token limit only ever lowers a window,
and ``agents.defaults.contextTokens`` is asked by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from compaction_app.engine import anthropic_window
from compaction_app.engine.config_value import models_of, provider_entries
from compaction_app.engine.window import (
    ChainRules,
    WindowRequest,
    WindowResolution,
    WindowStep,
    first_answer,
    model_ref,
    positive,
    present,
)
from compaction_app.engine.window_cache import Cache, owned_key, window_key
from sessions_app.tokens import javascript as js

LIMIT_FIELD: Final = "contextTokens"
WINDOW_FIELD: Final = "contextWindow"


def positive_number(value: object) -> int | float | None:
    return value if js.is_finite(value) and value > 0 else None


def configured_model(config: object, provider: str, model: str) -> Mapping[str, Any] | None:
    """The configured row of a model: its id may carry the provider's name in front."""
    own, wanted = js.norm(provider), _bare(provider, model)
    for key, entry in provider_entries(config):
        if js.norm(key) == own:
            for row in models_of(entry):
                listed = row.get("id")
                if isinstance(listed, str) and _bare(provider, listed) == wanted:
                    return row
    return None


def _bare(provider: str, model: str) -> str:
    name, prefix = js.trim(model), f"{js.norm(provider)}/"
    return name[len(prefix) :] if name.lower().startswith(prefix) else name


def authored_limit(row: Mapping[str, Any] | None) -> int | float | None:
    """The token limit that the configuration gives a model."""
    return positive_number((row or {}).get(LIMIT_FIELD))


def effective_limit(row: Mapping[str, Any] | None, fixed: int | float | None) -> int | float | None:
    """A configured token limit, never above the family's window or the configured one."""
    limit = authored_limit(row)
    window = positive_number((row or {}).get(WINDOW_FIELD)) if fixed is None else fixed
    return limit if limit is None or window is None else js.minimum(limit, window)


def projected_window(
    rules: ChainRules,
    cache: Cache,
    request: WindowRequest,
    *,
    model_tokens: object = None,
    model_window: object = None,
    unscoped: bool = True,
) -> WindowResolution:
    """The window by the first source that knows one.

    ``model_tokens`` and ``model_window`` are those of the runtime's own model object; ``unscoped``
    whether a cached value of the bare model counts that no provider owns.
    """
    return first_answer(_sources(rules, cache, request, (model_tokens, model_window), unscoped))


def _sources(
    rules: ChainRules,
    cache: Cache,
    request: WindowRequest,
    own: tuple[object, object],
    unscoped: bool,
) -> Iterator[WindowStep]:
    ref = model_ref(rules, request.provider, request.model)
    if ref is not None and js.norm(request.provider):
        row = configured_model(request.config, ref.provider, ref.model)
        million = anthropic_window.has_million_window(
            rules.million, request.config, ref.provider, ref.model
        )
        fixed = rules.million.window_tokens if million else None
        window = positive_number((row or {}).get(WINDOW_FIELD))
        listed = f"models.providers.{ref.provider}.models[{ref.model}]"
        yield present(f"{listed}.{LIMIT_FIELD}", effective_limit(row, fixed))
        yield present("anthropic1m", fixed)
        owned = owned_key(ref.provider, ref.model)
        known = (cache.get(owned), cache.get(window_key(owned)), *own)
        least = _least(known)
        yield present(
            "known to the provider",
            least if least is None or window is None else js.minimum(least, window),
        )
        yield present(f"{listed}.{WINDOW_FIELD}", window)
    if unscoped and request.model:
        name = request.model
        yield present(f"cache[{name}]", _least((cache.get(name), cache.get(window_key(name)))))
    yield positive("fallbackContextTokens", request.fallback)


def _least(values: tuple[object, ...]) -> int | float | None:
    known = [number for value in values if (number := positive_number(value)) is not None]
    return min(known, default=None)
