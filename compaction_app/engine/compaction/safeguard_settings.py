"""What the safeguard is told by configuration, and the limits it keeps (spec compaction 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from compaction_app.engine.compaction.agents_sections import DEFAULT_SECTIONS
from compaction_app.engine.compaction.file_operations import (
    FileLists,
    bounded_file_section,
    unbounded_file_section,
)
from compaction_app.engine.compaction.instructions import IdentifierPolicy
from compaction_app.engine.compaction.summary_cap import MAX_SUMMARY_CHARS
from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

DEFAULT_QUALITY_RETRIES = 1
MAX_QUALITY_RETRIES = 3


@dataclass(frozen=True, slots=True)
class SafeguardRules:
    """What differs by version.

    ``quality_guard``: whether configuration switches the check on by itself. ``max_summary_chars``: 0
    where a summary has no cap. ``default_sections``: the sections of AGENTS.md that are carried along
    when none are configured. ``file_section`` writes the file lists. ``turns_in_suffix``: whether the
    preserved turns belong to what a cap never cuts, or to the summary itself. ``refuses_failed``: a
    summary that fails its check for good fails the compaction (runs 4).
    """

    quality_guard: bool
    max_summary_chars: int
    default_sections: tuple[str, ...]
    file_section: Callable[[FileLists], str]
    turns_in_suffix: bool
    refuses_failed: bool = False


SAFEGUARD_2026_3 = SafeguardRules(
    quality_guard=False,
    max_summary_chars=0,
    default_sections=DEFAULT_SECTIONS,
    file_section=unbounded_file_section,
    turns_in_suffix=False,
)
SAFEGUARD_2026_4_20 = SafeguardRules(
    quality_guard=False,
    max_summary_chars=MAX_SUMMARY_CHARS,
    default_sections=DEFAULT_SECTIONS,
    file_section=bounded_file_section,
    turns_in_suffix=True,
)
SAFEGUARD_2026_5_28 = SafeguardRules(
    quality_guard=True,
    max_summary_chars=MAX_SUMMARY_CHARS,
    default_sections=(),
    file_section=bounded_file_section,
    turns_in_suffix=True,
)

SAFEGUARD_2026_9 = replace(
    SAFEGUARD_2026_5_28,
    file_section=partial(bounded_file_section, blank_line=False),
    refuses_failed=True,
)


@dataclass(frozen=True, slots=True)
class SafeguardSettings:
    """The settings of ``agents.defaults.compaction`` that the safeguard reads, as configured.

    ``quality_guard`` none takes what the rule set says; ``max_quality_retries`` and
    ``recent_turns_preserve`` may be anything and are brought into their bounds.
    """

    recent_turns_preserve: object = None
    quality_guard: bool | None = None
    max_quality_retries: object = None
    max_history_share: float | None = None
    context_window_tokens: float | None = None
    identifiers: IdentifierPolicy = field(default_factory=IdentifierPolicy)
    custom_instructions: str | None = None
    post_compaction_sections: tuple[str, ...] | None = None
    provider: str | None = None


def safeguard_settings(config: object, window: float | None = None) -> SafeguardSettings:
    """The settings as a configuration has them; ``window`` is the resolved context window."""
    compaction = value_at(config, "agents", "defaults", "compaction")
    guard = value_at(compaction, "qualityGuard", "enabled")
    share = value_at(compaction, "maxHistoryShare")
    sections = value_at(compaction, "postCompactionSections")
    return SafeguardSettings(
        recent_turns_preserve=value_at(compaction, "recentTurnsPreserve"),
        quality_guard=guard if isinstance(guard, bool) else None,
        max_quality_retries=value_at(compaction, "qualityGuard", "maxRetries"),
        max_history_share=share if js.is_finite(share) else None,
        context_window_tokens=window,
        identifiers=IdentifierPolicy(
            _text(compaction, "identifierPolicy"), _text(compaction, "identifierInstructions")
        ),
        custom_instructions=_text(compaction, "customInstructions"),
        post_compaction_sections=_names(sections) if isinstance(sections, list) else None,
        provider=_text(compaction, "provider"),
    )


def quality_retries(value: object) -> int:
    """The setting ``qualityGuard.maxRetries`` as a whole number from 0 to 3."""
    if not js.is_finite(value):
        return DEFAULT_QUALITY_RETRIES
    return int(min(max(0, js.floor(value)), MAX_QUALITY_RETRIES))


def summary_reserve_tokens(requested: float, model_max: object) -> int:
    """What the window keeps free for the summary: the reserve, at most what the model can write."""
    reserve = max(1, js.floor(requested))
    if js.is_finite(model_max) and model_max > 0:
        reserve = min(reserve, js.floor(model_max))
    return int(max(1, reserve))


def _text(compaction: object, key: str) -> str | None:
    value = value_at(compaction, key)
    return value if isinstance(value, str) else None


def _names(sections: list[Any]) -> tuple[str, ...]:
    return tuple(name for name in sections if isinstance(name, str))
