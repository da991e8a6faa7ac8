"""From how many tokens on does the provider compact on its side? (spec budgets 5.8)

The preflight compaction waits at least until there, so that the two do not fight. Since 2026.9 OpenAI's
server compacts from 70 % of the window on even where nothing is configured, and the parameters of a
provider's entry no longer count (spec profiles 5.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config_value import models_of, provider_entries, value_at
from sessions_app.tokens import javascript as js

ON_UNLESS_REFUSED: Final = "openai"
"""The one provider whose server compacts without being asked to."""


DEFAULT_SHARE: Final = 0.7
"""Where OpenAI's server begins without a configured threshold, as a part of the window."""


@dataclass(frozen=True, slots=True)
class ServerThresholdRules:
    """``default_share``: the part of the window taken where no threshold is set, or none;
    ``reads_entries``: the parameters of the provider's entry and of its model list count."""

    default_share: float | None
    reads_entries: bool


OPENCLAW_2026_5_28: Final = ServerThresholdRules(default_share=None, reads_entries=True)
OPENCLAW_2026_9: Final = ServerThresholdRules(default_share=DEFAULT_SHARE, reads_entries=False)


def server_threshold(
    config: object,
    provider: object,
    model: object,
    rules: ServerThresholdRules = OPENCLAW_2026_5_28,
    window: float | None = None,
) -> int | None:
    """The threshold, or None when the provider does not compact or no size is known.

    Parameters are read from general to specific: the provider's, its model's, the defaults', and the
    defaults' for this very model. The most specific value that fits decides.
    """
    name = js.norm(provider)
    model_id = js.trim(model) if isinstance(model, str) else ""
    if not name or not model_id:
        return None
    sources = _sources(config, name, model_id, rules)
    switch = _last(sources, "responsesServerCompaction", lambda value: isinstance(value, bool))
    is_on = switch is True or (name == ON_UNLESS_REFUSED and switch is None)
    threshold = _last(
        sources, "responsesCompactThreshold", lambda value: js.is_finite(value) and value > 0
    )
    if threshold is None and window is not None and rules.default_share is not None:
        threshold = window * rules.default_share
    return math.floor(threshold) if is_on and threshold is not None else None


def _sources(
    config: object, provider: str, model: str, rules: ServerThresholdRules
) -> list[object]:
    """The parameter objects that apply, general ones first."""
    defaults = value_at(config, "agents", "defaults")
    general = [
        value_at(defaults, "params"),
        value_at(defaults, "models", f"{provider}/{model}", "params"),
    ]
    if not rules.reads_entries:
        return general
    entry = next((e for key, e in provider_entries(config) if js.norm(key) == provider), None)
    listed = next((m for m in models_of(entry) if m.get("id") == model), None)
    return [value_at(entry, "params"), value_at(listed, "params"), *general]


def _last(sources: list[object], key: str, fits: Callable[[object], bool]) -> Any:
    """The value of the most specific source whose value fits."""
    values = [value_at(source, key) for source in sources]
    return next((value for value in reversed(values) if fits(value)), None)
