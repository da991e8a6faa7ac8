"""What ``agents.defaults.contextPruning`` asks for (spec pruning 12.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.pruning.duration import BadDuration, DurationRules, parse_duration_ms
from sessions_app.tokens import javascript as js

CACHE_TTL_MODE: Final = "cache-ttl"
TTL_UNIT: Final = "m"


@dataclass(frozen=True, slots=True)
class SoftTrim:
    """Results longer than ``max_chars`` keep their head and tail."""

    max_chars: int = 4000
    head_chars: int = 1500
    tail_chars: int = 1500


@dataclass(frozen=True, slots=True)
class HardClear:
    """Whether results may be replaced whole, and by what."""

    enabled: bool = True
    placeholder: str = "[Old tool result content cleared]"


@dataclass(frozen=True, slots=True)
class CacheTtlSettings:
    """The settings in force; the defaults are the runtime's. Ratios are of the window in characters."""

    ttl_ms: float = 300_000
    keep_last_assistants: int = 3
    soft_trim_ratio: float = 0.3
    hard_clear_ratio: float = 0.5
    min_prunable_tool_chars: int = 50_000
    tools: Any = field(default_factory=dict)
    soft_trim: SoftTrim = SoftTrim()
    hard_clear: HardClear = HardClear()


def context_pruning(config: Any) -> Any:
    """What a configuration holds under ``agents.defaults.contextPruning``; none without it."""
    for key in ("agents", "defaults", "contextPruning"):
        config = config.get(key) if isinstance(config, Mapping) else None
    return config


def cache_ttl_settings(
    raw: Any, durations: DurationRules, *, only_basics: bool = False
) -> CacheTtlSettings | None:
    """The settings of a configuration; none unless its mode is exactly "cache-ttl".

    ``only_basics``: ratios, sizes and the protected tail are the runtime's own (spec profiles 1.3).

    A value of the wrong type leaves the default; numbers are floored at 0, ratios clamped to [0, 1].
    """
    if not isinstance(raw, Mapping) or raw.get("mode") != CACHE_TTL_MODE:
        return None
    default = CacheTtlSettings()
    tools = raw.get("tools")
    if only_basics:
        raw = {key: raw[key] for key in ("ttl", "hardClear") if key in raw}
    return CacheTtlSettings(
        ttl_ms=_ttl(raw.get("ttl"), default.ttl_ms, durations),
        keep_last_assistants=_count(raw, "keepLastAssistants", default.keep_last_assistants),
        soft_trim_ratio=_ratio(raw, "softTrimRatio", default.soft_trim_ratio),
        hard_clear_ratio=_ratio(raw, "hardClearRatio", default.hard_clear_ratio),
        min_prunable_tool_chars=_count(
            raw, "minPrunableToolChars", default.min_prunable_tool_chars
        ),
        tools=tools if js.is_truthy(tools) else {},
        soft_trim=_soft_trim(raw.get("softTrim"), default.soft_trim),
        hard_clear=_hard_clear(raw.get("hardClear"), default.hard_clear),
    )


def ttl_fault(value: Any, durations: DurationRules) -> str:
    """Why the runtime does not take a ttl and leaves its default in force; "" for one that it takes."""
    if not isinstance(value, str):
        return "a text is expected"
    try:
        parse_duration_ms(value, durations, default_unit=TTL_UNIT)
    except BadDuration as error:
        return str(error)
    return ""


def _ttl(value: Any, default: float, durations: DurationRules) -> float:
    if ttl_fault(value, durations):
        return default
    return parse_duration_ms(value, durations, default_unit=TTL_UNIT)


def _count(raw: Mapping[str, Any], key: str, default: int) -> int:
    value = raw.get(key)
    return max(0, math.floor(value)) if js.is_finite(value) else default


def _ratio(raw: Mapping[str, Any], key: str, default: float) -> float:
    value = raw.get(key)
    return min(1, max(0, value)) if js.is_finite(value) else default


def _soft_trim(raw: Any, default: SoftTrim) -> SoftTrim:
    if not isinstance(raw, Mapping):
        return default
    return SoftTrim(
        max_chars=_count(raw, "maxChars", default.max_chars),
        head_chars=_count(raw, "headChars", default.head_chars),
        tail_chars=_count(raw, "tailChars", default.tail_chars),
    )


def _hard_clear(raw: Any, default: HardClear) -> HardClear:
    if not isinstance(raw, Mapping):
        return default
    enabled, words = raw.get("enabled"), raw.get("placeholder")
    return HardClear(
        enabled=enabled if isinstance(enabled, bool) else default.enabled,
        placeholder=js.trim(words)
        if isinstance(words, str) and not js.is_blank(words)
        else default.placeholder,
    )
