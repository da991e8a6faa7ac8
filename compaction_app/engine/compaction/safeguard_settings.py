"""What the safeguard is told by configuration, and the limits it keeps (spec compaction 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compaction_app.engine.compaction.agents_sections import DEFAULT_SECTIONS
from compaction_app.engine.compaction.file_operations import (
    FileLists,
    bounded_file_section,
    unbounded_file_section,
)
from compaction_app.engine.compaction.instructions import IdentifierPolicy
from compaction_app.engine.compaction.summary_cap import MAX_SUMMARY_CHARS
from sessions_app.tokens import javascript as js

DEFAULT_QUALITY_RETRIES = 1
MAX_QUALITY_RETRIES = 3


@dataclass(frozen=True, slots=True)
class SafeguardRules:
    """What differs by version.

    ``quality_guard``: whether configuration switches the check on by itself. ``max_summary_chars``: 0
    where a summary has no cap. ``default_sections``: the sections of AGENTS.md that are carried along
    when none are configured. ``file_section`` writes the file lists. ``turns_in_suffix``: whether the
    preserved turns belong to what a cap never cuts, or to the summary itself.
    """

    quality_guard: bool
    max_summary_chars: int
    default_sections: tuple[str, ...]
    file_section: Callable[[FileLists], str]
    turns_in_suffix: bool


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
