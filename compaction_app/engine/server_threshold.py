"""From how many tokens on does the provider compact on its side? (spec budgets 5.8)

The preflight compaction waits at least until there, so that the two do not fight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from compaction_app.engine.config_value import models_of, provider_entries, value_at
from sessions_app.tokens import javascript as js

ON_UNLESS_REFUSED: Final = "openai"
"""The one provider whose server compacts without being asked to."""


def server_threshold(config: object, provider: object, model: object) -> int | None:
    """The configured threshold, or None when the provider does not compact or no size is set.

    Parameters are read from general to specific: the provider's, its model's, the defaults', and the
    defaults' for this very model. The most specific value that fits decides.
    """
    name = js.norm(provider)
    model_id = js.trim(model) if isinstance(model, str) else ""
    if not name or not model_id:
        return None
    sources = _sources(config, name, model_id)
    switch = _last(sources, "responsesServerCompaction", lambda value: isinstance(value, bool))
    is_on = switch is True or (name == ON_UNLESS_REFUSED and switch is None)
    threshold = _last(
        sources, "responsesCompactThreshold", lambda value: js.is_finite(value) and value > 0
    )
    return math.floor(threshold) if is_on and threshold is not None else None


def _sources(config: object, provider: str, model: str) -> list[object]:
    """The parameter objects that apply, general ones first."""
    entry = next((e for key, e in provider_entries(config) if js.norm(key) == provider), None)
    listed = next((m for m in models_of(entry) if m.get("id") == model), None)
    defaults = value_at(config, "agents", "defaults")
    return [
        value_at(entry, "params"),
        value_at(listed, "params"),
        value_at(defaults, "params"),
        value_at(defaults, "models", f"{provider}/{model}", "params"),
    ]


def _last(sources: list[object], key: str, fits: Callable[[object], bool]) -> Any:
    """The value of the most specific source whose value fits."""
    values = [value_at(source, key) for source in sources]
    return next((value for value in reversed(values) if fits(value)), None)
