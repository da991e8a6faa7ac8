"""What a memory flush would say and where it would write (spec budgets 5.1).

The plan is made from the configuration and the date alone; whether it is carried out is decided in
`flush_run`. A configured prompt replaces the default one, but the three hints that protect the
workspace are put back wherever they are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from compaction_app.engine import zoned_time
from compaction_app.engine.budget import effective_reserve
from compaction_app.engine.config.byte_size import parse_byte_size
from compaction_app.engine.config_value import value_at
from compaction_app.engine.policy import BY_KEY
from sessions_app.tokens import javascript as js

DEFAULT_SOFT_THRESHOLD: Final[int] = BY_KEY["compaction.memoryFlush.softThresholdTokens"].default
DEFAULT_RESERVE_FLOOR: Final[int] = BY_KEY["compaction.reserveTokensFloor"].default
DEFAULT_FORCE_BYTES: Final[int] = BY_KEY["compaction.memoryFlush.forceFlushTranscriptBytes"].default
SILENT_TOKEN: Final = "NO_REPLY"
DATE_MARK: Final = "YYYY-MM-DD"

TARGET_HINT: Final = (
    "Store durable memories only in memory/YYYY-MM-DD.md (create memory/ if needed)."
)
APPEND_HINT: Final = "If memory/YYYY-MM-DD.md already exists, APPEND new content only and do not overwrite existing entries."
READ_ONLY_HINT: Final = (
    "Treat workspace bootstrap/reference files such as MEMORY.md, DREAMS.md, SOUL.md, TOOLS.md, and AGENTS.md "
    "as read-only during this flush; never overwrite, replace, or edit them."
)
HINTS: Final = (TARGET_HINT, APPEND_HINT, READ_ONLY_HINT)
SILENT_HINT: Final = f"If no user-visible reply is needed, start with {SILENT_TOKEN}."

DEFAULT_PROMPT: Final = " ".join(
    (
        "Pre-compaction memory flush.",
        TARGET_HINT,
        READ_ONLY_HINT,
        APPEND_HINT,
        "Do NOT create timestamped variant files (e.g., YYYY-MM-DD-HHMM.md); "
        "always use the canonical YYYY-MM-DD.md filename.",
        f"If nothing to store, reply with {SILENT_TOKEN}.",
    )
)
DEFAULT_SYSTEM_PROMPT: Final = " ".join(
    (
        "Pre-compaction memory flush turn.",
        "The session is near auto-compaction; capture durable memories to disk.",
        TARGET_HINT,
        READ_ONLY_HINT,
        APPEND_HINT,
        f"You may reply, but usually {SILENT_TOKEN} is correct.",
    )
)

TIME_MARK: Final = "Current time:"


_TOOLS_FILE = "SOUL.md, TOOLS.md, and AGENTS.md"
_NO_TOOLS_FILE = "SOUL.md, and AGENTS.md"


def _time_on_two_lines(spoken: str, utc: str) -> str:
    return f"{TIME_MARK} {spoken}\nReference UTC: {utc}"


def _time_on_one_line(spoken: str, utc: str) -> str:
    return f"{TIME_MARK} {spoken} / {utc}"


@dataclass(frozen=True, slots=True)
class FlushPlanRules:
    """What a version does differently.

    ``is_off`` reads the switch; ``time_lines`` writes the time under the prompt; ``reads_model`` says
    whether the flush can have a model of its own; ``as_runtime_event`` whether the prompt reaches the
    model as an event of the runtime and not as the user's words. ``reserve`` and ``soft`` are the
    numbers of the line, from configuration and window; ``reads_texts`` whether the prompts can be
    configured, ``reads_clock`` whether the form of the time can, and ``guards_tools_file`` whether the
    hints name that file.
    """

    is_off: Callable[[object], bool]
    time_lines: Callable[[str, str], str]
    reads_model: bool
    as_runtime_event: bool
    reserve: Callable[[object, object], int]
    soft: Callable[[object, object], int]
    reads_texts: bool = True
    reads_clock: bool = True
    guards_tools_file: bool = True


def _configured_reserve(config: object, _window: object) -> int:
    """The configured reserve floor; unlike a run's own, it does not shrink with the window."""
    path = ("agents", "defaults", "compaction", "reserveTokensFloor")
    return _from_zero(value_at(config, *path), DEFAULT_RESERVE_FLOOR)


def _configured_soft(config: object, _window: object) -> int:
    path = ("agents", "defaults", "compaction", "memoryFlush", "softThresholdTokens")
    return _from_zero(value_at(config, *path), DEFAULT_SOFT_THRESHOLD)


def _scaled_reserve(_config: object, window: object) -> int:
    """At most a quarter of the window, and no setting any more (spec profiles 5.2)."""
    if not js.is_number(window) or js.pos_int(window) is None:
        return DEFAULT_RESERVE_FLOOR
    return int(effective_reserve(window, DEFAULT_RESERVE_FLOOR))


def _scaled_soft(config: object, window: object) -> int:
    """At most half of what the reserve leaves (spec profiles 5.2)."""
    soft = _configured_soft(config, window)
    if not js.is_number(window) or js.pos_int(window) is None:
        return soft
    whole = js.maximum(1, js.floor(window))
    return int(js.minimum(soft, js.floor((whole - _scaled_reserve(config, window)) / 2)))


OPENCLAW_2026_3: Final = FlushPlanRules(
    is_off=lambda enabled: enabled is not None and not js.is_truthy(enabled),
    time_lines=_time_on_one_line,
    reads_model=False,
    as_runtime_event=False,
    reserve=_configured_reserve,
    soft=_configured_soft,
)
OPENCLAW_2026_4_20: Final = FlushPlanRules(
    is_off=lambda enabled: enabled is False,
    time_lines=_time_on_one_line,
    reads_model=False,
    as_runtime_event=False,
    reserve=_configured_reserve,
    soft=_configured_soft,
)
OPENCLAW_2026_5_28: Final = FlushPlanRules(
    is_off=lambda enabled: enabled is False,
    time_lines=_time_on_two_lines,
    reads_model=True,
    as_runtime_event=True,
    reserve=_configured_reserve,
    soft=_configured_soft,
)
OPENCLAW_2026_9: Final = FlushPlanRules(
    is_off=lambda enabled: enabled is False,
    time_lines=_time_on_two_lines,
    reads_model=True,
    as_runtime_event=False,
    reserve=_scaled_reserve,
    soft=_scaled_soft,
    reads_texts=False,
    reads_clock=False,
    guards_tools_file=False,
)


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """The numbers of a memory flush: tokens, tokens, bytes (0 bytes: size never forces a flush)."""

    soft_threshold: int
    reserve_floor: int
    force_bytes: int


@dataclass(frozen=True, slots=True)
class FlushPlan:
    """A memory flush as it would run: its numbers, its texts, its file below the workspace."""

    settings: FlushSettings
    prompt: str
    system_prompt: str
    relative_path: str
    model: str | None = None


def flush_settings(
    config: object, rules: FlushPlanRules, window: object = None
) -> FlushSettings | None:
    """The numbers for a window, or None when the memory flush is switched off."""
    compaction = value_at(config, "agents", "defaults", "compaction")
    flush = value_at(compaction, "memoryFlush")
    if rules.is_off(value_at(flush, "enabled")):
        return None
    force_bytes = parse_byte_size(value_at(flush, "forceFlushTranscriptBytes"))
    return FlushSettings(
        soft_threshold=rules.soft(config, window),
        reserve_floor=rules.reserve(config, window),
        force_bytes=DEFAULT_FORCE_BYTES if force_bytes is None else force_bytes,
    )


def flush_plan(
    config: object,
    now_ms: int | float,
    rules: FlushPlanRules,
    window: object = None,
    host_zone: str = zoned_time.UTC_ZONE,
    host_twelve_hours: bool = True,
) -> FlushPlan | None:
    """The plan for a moment, or None when the memory flush is switched off.

    ``window`` is the window in tokens, where the version looks at it. ``host_zone`` and ``host_twelve_hours`` are what the host would use where the configuration leaves
    the zone or the time format open.
    """
    settings = flush_settings(config, rules, window)
    if settings is None:
        return None
    defaults = value_at(config, "agents", "defaults")
    flush = value_at(defaults, "compaction", "memoryFlush")
    zone = zoned_time.user_zone(value_at(defaults, "userTimezone"), host_zone)
    date = zoned_time.date_stamp(now_ms, zone)
    form = _text(value_at(defaults, "timeFormat")) if rules.reads_clock else ""
    clock = {"12": True, "24": False}.get(form)
    twelve_hours = host_twelve_hours if clock is None else clock
    spoken = f"{zoned_time.spoken_time(now_ms, zone, twelve_hours=twelve_hours)} ({zone})"
    time_lines = rules.time_lines(spoken, zoned_time.utc_minute(now_ms))
    texts = flush if rules.reads_texts else None
    prompt = _guarded(value_at(texts, "prompt"), DEFAULT_PROMPT)
    system_prompt = _guarded(value_at(texts, "systemPrompt"), DEFAULT_SYSTEM_PROMPT)
    if not rules.guards_tools_file:
        prompt, system_prompt = (
            text.replace(_TOOLS_FILE, _NO_TOOLS_FILE) for text in (prompt, system_prompt)
        )
    prompt = prompt.replace(DATE_MARK, date)
    model = js.trim(_text(value_at(flush, "model"))) if rules.reads_model else ""
    return FlushPlan(
        settings=settings,
        prompt=prompt if TIME_MARK in prompt else f"{prompt}\n{time_lines}",
        system_prompt=system_prompt.replace(DATE_MARK, date),
        relative_path=f"memory/{date}.md",
        model=model or None,
    )


def _guarded(configured: object, default: str) -> str:
    text = js.trim(_text(configured)) or default
    for hint in HINTS:
        if hint not in text:
            text += f"\n\n{hint}"
    return text if SILENT_TOKEN in text else f"{text}\n\n{SILENT_HINT}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _from_zero(value: object, default: int) -> int:
    return math.floor(value) if js.is_finite(value) and value >= 0 else default
