"""Which window does a run have? The sources behind real runs, compaction and pruning.

Other sources than in ``window``: only models listed in the configuration and the runtime's own model
object count, never the cache; ``agents.defaults.contextTokens`` is a cap (spec budgets 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from compaction_app.engine import anthropic_window, window_cache
from compaction_app.engine.anthropic_window import MillionWindowRules
from compaction_app.engine.config_value import (
    first_pos_int,
    models_of,
    provider_entries,
    value_at,
)
from compaction_app.engine.window import (
    ALIASES_2026_4_20,
    DEFAULT_CONTEXT_TOKENS,
    WindowResolution,
    WindowStep,
    first_answer,
    present,
)
from compaction_app.engine.window_owned import effective_limit
from sessions_app.tokens import javascript as js

CAP_SOURCE: Final = "agentContextTokens"


@dataclass(frozen=True, slots=True)
class RunWindowRules:
    """What differs by version (spec profiles 1.4).

    ``aliases``: how provider keys are folded before they are compared; ``None`` where they have to be
    the very same. ``last_resort``: the window when the default is no positive number; ``None`` where
    such a default is taken as it is. ``reports_reference``: a capped window names the uncapped one.
    ``capped``: ``agents.defaults.contextTokens`` caps the window. ``million``: the families whose window
    limits a configured token limit, where the configured window does so, too (spec profiles 5.1).
    """

    aliases: Mapping[str, str] | None
    fields: tuple[str, ...]
    last_resort: int | None
    reports_reference: bool
    capped: bool = True
    million: MillionWindowRules | None = None


OPENCLAW_2026_3: Final = RunWindowRules(None, window_cache.WINDOW_ONLY, None, False)
OPENCLAW_2026_4_20: Final = RunWindowRules(ALIASES_2026_4_20, window_cache.BOTH, None, False)
OPENCLAW_2026_5_28: Final = RunWindowRules(MappingProxyType({}), window_cache.BOTH, 8_000, True)
OPENCLAW_2026_9: Final = replace(
    OPENCLAW_2026_5_28, capped=False, million=anthropic_window.OPENCLAW_2026_9
)


def resolve_run_window(
    rules: RunWindowRules,
    config: object,
    provider: str,
    model: str,
    runtime_model: Mapping[str, Any],
    default: object = DEFAULT_CONTEXT_TOKENS,
) -> WindowResolution:
    """The window of a run: configured model, runtime model or default, then the cap.

    ``runtime_model`` is the model object of the run (``contextTokens``, ``contextWindow``). Sources
    are named ``modelsConfig``, ``model``, ``default`` and, where the cap is lower,
    ``agentContextTokens``.
    """
    base = first_answer(_sources(rules, config, provider, model, runtime_model, default))
    cap = js.pos_int(value_at(config, "agents", "defaults", "contextTokens"))
    if base.tokens is None or cap is None or not rules.capped:
        return base
    if not cap < base.tokens:
        kept = WindowStep(CAP_SOURCE, cap, "does_not_cap")
        return WindowResolution(base.tokens, base.source, (*base.trace, kept))
    return WindowResolution(
        cap,
        CAP_SOURCE,
        (*base.trace, WindowStep(CAP_SOURCE, cap, "caps")),
        base.tokens if rules.reports_reference else None,
    )


def model_window(model: Mapping[str, Any]) -> int | float:
    """The window that summarising assumes for a model object: at least 1, 200000 when it has none."""
    for field in window_cache.BOTH:
        value = model.get(field)
        if js.is_number(value):
            return js.maximum(1, js.floor(value))
    return DEFAULT_CONTEXT_TOKENS


def _sources(
    rules: RunWindowRules,
    config: object,
    provider: str,
    model: str,
    runtime_model: Mapping[str, Any],
    default: object,
) -> Iterator[WindowStep]:
    listed = _listed_model(rules, config, provider, model)
    yield present("modelsConfig", _configured(rules, config, provider, model, listed))
    yield present("model", first_pos_int(runtime_model, rules.fields))
    if rules.last_resort is None:
        yield present("default", js.floor(default) if js.is_number(default) else math.nan)
    else:
        yield present("default", js.pos_int(default) or rules.last_resort)


def _configured(
    rules: RunWindowRules,
    config: object,
    provider: str,
    model: str,
    listed: Mapping[str, Any] | None,
) -> int | None:
    if rules.million is None:
        return first_pos_int(listed, rules.fields)
    million = anthropic_window.has_million_window(rules.million, config, provider, model)
    limit = effective_limit(listed, rules.million.window_tokens if million else None)
    return js.pos_int(limit) or first_pos_int(listed, window_cache.WINDOW_ONLY)


def _listed_model(
    rules: RunWindowRules, config: object, provider: str, model: str
) -> Mapping[str, Any] | None:
    """The first model with this id in the first entry of this provider."""
    for key, entry in provider_entries(config):
        if _same_provider(rules, key, provider):
            return next((each for each in models_of(entry) if each.get("id") == model), None)
    return None


def _same_provider(rules: RunWindowRules, key: str, provider: str) -> bool:
    if rules.aliases is None:
        return key == provider
    folded = (js.norm(name) for name in (key, provider))
    first, second = (rules.aliases.get(name, name) for name in folded)
    return first == second
