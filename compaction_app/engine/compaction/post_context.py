"""What an agent is told right after a compaction: its own rules, and the time (spec compaction 4).

The refresh is added once: to the system prompt of the turn whose preflight compacted, or queued for
the turn after one that compacted by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from compaction_app.engine.compaction.agents_sections import (
    DEFAULT_SECTIONS,
    FoundSections,
    SectionRules,
    matches_section_set,
    rules_sections,
)
from compaction_app.engine.compaction.workspace_rules import cut_with_marker
from compaction_app.engine.pruning.context_limits import context_limits
from sessions_app.timestamps import EPOCH
from sessions_app.tokens import javascript as js

MAX_CONFIGURED_CHARS = 50_000
DATE_PLACEHOLDER = "YYYY-MM-DD"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)

_HINT = "Session was just compacted. The conversation summary above is a hint, NOT a substitute for your"


@dataclass(frozen=True, slots=True)
class PostContextRules:
    """What differs by version.

    ``default_sections`` apply when none are configured; empty where the refresh has to be asked for.
    ``max_chars`` limits the sections, ``configurable_limit`` says whether a setting may change it.
    ``dash`` stands in the sentence and before the time, ``utc`` before the time in UTC.
    """

    default_sections: tuple[str, ...]
    max_chars: int
    configurable_limit: bool
    dash: str
    utc: str


POST_CONTEXT_2026_3 = PostContextRules(DEFAULT_SECTIONS, 3000, False, "—", " / ")
POST_CONTEXT_2026_4_20 = PostContextRules(DEFAULT_SECTIONS, 1800, True, "-", " / ")
POST_CONTEXT_2026_5_28 = PostContextRules((), 1800, True, "-", "\nReference UTC: ")


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
    defaults = _record(_record(_record(config).get("agents")).get("defaults"))
    names = configured_sections(defaults, rules)
    if not names:
        return PostContext(None, "not_configured")
    if agents_md is None:
        return PostContext(None, "no_agents_file")
    found = rules_sections(agents_md, names, section_rules)
    if not found.sections:
        return PostContext(None, "sections_not_found")
    zone, zone_name = _zone(defaults.get("userTimezone"), system.zone)
    now = (EPOCH + timedelta(milliseconds=now_ms)).astimezone(zone)
    dated = "\n\n".join(found.sections).replace(DATE_PLACEHOLDER, f"{now:%Y-%m-%d}")
    content = cut_with_marker(dated, _max_chars(config, agent_id, rules))
    hours_24 = {"24": True, "12": False}.get(str(defaults.get("timeFormat")), system.hours_24)
    opening, label = _framing(names, found, rules)
    parts = (
        "[Post-compaction context refresh]",
        opening,
        label,
        content,
        time_line(now, zone_name, hours_24, rules),
    )
    return PostContext("\n\n".join(parts), "injected", found.names)


def configured_sections(defaults: Mapping[str, Any], rules: PostContextRules) -> tuple[str, ...]:
    """``compaction.postCompactionSections``, or what applies when it is no list."""
    configured = _record(defaults.get("compaction")).get("postCompactionSections")
    if not isinstance(configured, list):
        return rules.default_sections
    return tuple(name for name in configured if isinstance(name, str))


def time_line(now: datetime, zone_name: str, hours_24: bool, rules: PostContextRules) -> str:
    """The moment in the user's zone and in UTC."""
    utc = now.astimezone(ZoneInfo("UTC"))
    clock = f"{now:%H:%M}" if hours_24 else f"{now.hour % 12 or 12}:{now:%M %p}"
    day = f"{DAYS[now.weekday()]}, {MONTHS[now.month - 1]} {now.day}{_ordinal(now.day)}, {now.year}"
    return (
        f"Current time: {day} {rules.dash} {clock} ({zone_name}){rules.utc}{utc:%Y-%m-%d %H:%M} UTC"
    )


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


def _zone(configured: Any, system: str) -> tuple[ZoneInfo, str]:
    """The user's time zone; the system's where it is not set or does not exist."""
    for name in (js.trim(configured) if isinstance(configured, str) else "", system):
        try:
            return ZoneInfo(name), name
        except (ValueError, OSError, LookupError):
            continue
    return ZoneInfo("UTC"), "UTC"


def _ordinal(day: int) -> str:
    if day in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _record(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
