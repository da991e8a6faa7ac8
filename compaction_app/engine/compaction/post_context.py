"""What an agent is told right after a compaction: its own rules, and the time (spec compaction 4).

The refresh is added once: to the system prompt of the turn whose preflight compacted, or queued for
the turn after one that compacted by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.compaction.agents_sections import (
    DEFAULT_SECTIONS,
    FoundSections,
    SectionRules,
    matches_section_set,
    rules_sections,
)
from compaction_app.engine.compaction.workspace_rules import cut_with_marker
from compaction_app.engine.config_value import value_at
from compaction_app.engine.pruning.context_limits import context_limits
from compaction_app.engine.zoned_time import date_stamp, spoken_time, user_zone, utc_minute
from sessions_app.tokens import javascript as js

MAX_CONFIGURED_CHARS = 50_000
DATE_PLACEHOLDER = "YYYY-MM-DD"

_HINT = "Session was just compacted. The conversation summary above is a hint, NOT a substitute for your"


@dataclass(frozen=True, slots=True)
class PostContextRules:
    """What differs by version.

    ``default_sections`` apply when none are configured; empty where the refresh has to be asked for.
    ``max_chars`` limits the sections, ``configurable_limit`` says whether a setting may change it.
    ``dash`` stands in the sentence and before the time, ``utc`` before the time in UTC; ``reads_clock``
    says whether a setting may change the form of the time.
    """

    default_sections: tuple[str, ...]
    max_chars: int
    configurable_limit: bool
    dash: str
    utc: str
    reads_clock: bool = True


POST_CONTEXT_2026_3 = PostContextRules(DEFAULT_SECTIONS, 3000, False, "—", " / ")
POST_CONTEXT_2026_4_20 = PostContextRules(DEFAULT_SECTIONS, 1800, True, "-", " / ")
POST_CONTEXT_2026_5_28 = PostContextRules((), 1800, True, "-", "\nReference UTC: ")
POST_CONTEXT_2026_9 = replace(POST_CONTEXT_2026_5_28, reads_clock=False)


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own time zone and hours, for settings that leave them open."""

    zone: str = "UTC"
    hours_24: bool = False


@dataclass(frozen=True, slots=True)
class PostContext:
    """The refresh, or none with the ``reason`` there is none; ``sections`` are those found.

    Reasons: ``injected``, ``not_configured``, ``no_agents_file``, ``sections_not_found``.
    """

    text: str | None
    reason: str
    sections: tuple[str, ...] = ()


def post_compaction_context(
    agents_md: str | None,
    config: Any,
    now_ms: float,
    rules: PostContextRules,
    section_rules: SectionRules,
    *,
    agent_id: str | None = None,
    system: SystemClock = SystemClock(),
) -> PostContext:
    """The text put before the model after a compaction, from the workspace's AGENTS.md."""
    defaults = value_at(config, "agents", "defaults")
    names = configured_sections(defaults, rules)
    if not names:
        return PostContext(None, "not_configured")
    if agents_md is None:
        return PostContext(None, "no_agents_file")
    found = rules_sections(agents_md, names, section_rules)
    if not found.sections:
        return PostContext(None, "sections_not_found")
    zone = user_zone(value_at(defaults, "userTimezone"), system.zone)
    dated = "\n\n".join(found.sections).replace(DATE_PLACEHOLDER, date_stamp(now_ms, zone))
    content = cut_with_marker(dated, _max_chars(config, agent_id, rules))
    form = str(value_at(defaults, "timeFormat")) if rules.reads_clock else ""
    hours_24 = {"24": True, "12": False}.get(form, system.hours_24)
    opening, label = _framing(names, found, rules)
    parts = (
        "[Post-compaction context refresh]",
        opening,
        label,
        content,
        time_line(now_ms, zone, hours_24, rules),
    )
    return PostContext("\n\n".join(parts), "injected", found.names)


def configured_sections(defaults: Any, rules: PostContextRules) -> tuple[str, ...]:
    """``compaction.postCompactionSections``, or what applies when it is no list."""
    configured = value_at(defaults, "compaction", "postCompactionSections")
    if not isinstance(configured, list):
        return rules.default_sections
    return tuple(name for name in configured if isinstance(name, str))


def time_line(now_ms: float, zone: str, hours_24: bool, rules: PostContextRules) -> str:
    """The moment in the user's zone and in UTC."""
    day, _, clock = spoken_time(now_ms, zone, twelve_hours=not hours_24).rpartition(" - ")
    return f"Current time: {day} {rules.dash} {clock} ({zone}){rules.utc}{utc_minute(now_ms)}"


def _framing(
    names: Sequence[str], found: FoundSections, rules: PostContextRules
) -> tuple[str, str]:
    if matches_section_set(names, DEFAULT_SECTIONS):
        return (
            f"{_HINT} startup sequence. Run your Session Startup sequence {rules.dash} read the "
            "required files before responding to the user.",
            "Critical rules from AGENTS.md:",
        )
    listed = ", ".join(found.names)
    return (
        f"{_HINT} full startup sequence. Re-read the sections injected below ({listed}) and follow "
        "your configured startup procedure before responding to the user.",
        f"Injected sections from AGENTS.md ({listed}):",
    )


def _max_chars(config: Any, agent_id: str | None, rules: PostContextRules) -> int:
    configured = context_limits(config, agent_id).get("postCompactionMaxChars")
    if rules.configurable_limit and js.is_finite(configured):
        return int(min(max(1, js.floor(configured)), MAX_CONFIGURED_CHARS))
    return rules.max_chars
