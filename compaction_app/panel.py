"""The tuning panel: a knob for every setting that the curve can answer to, with a reason where not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.circumstances import PATH_TITLES
from compaction_app.engine.effects import ineffective, is_disabled, unread
from compaction_app.engine.lines import Lines
from compaction_app.engine.odd_settings import odd_settings
from compaction_app.engine.policy import SETTINGS
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.pruning_effects import NEVER_LOCKED, pruning_notes
from compaction_app.engine.replay import Replay
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.setting import Setting
from compaction_app.engine.summary_sizes import CHOICES, SOURCE_TITLES
from compaction_app.experimental_panel import constant_knobs
from compaction_app.forms import Query, base_rules
from compaction_app.runs import Situation

PANEL_GROUPS = ("Window", "Reserve", "Memory flush", "Compaction", "Tool results", "Pruning")
SWITCHES = (
    "compaction.memoryFlush.enabled",
    "compaction.mode",
    "contextPruning.mode",
    "contextPruning.hardClear.enabled",
)
TEXTS = ("contextPruning.ttl", "contextPruning.tools.allow", "contextPruning.tools.deny")


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting in the tuning panel. ``value`` is "" where it is unset."""

    setting: Setting
    value: Any
    text: str
    slider: str
    changed: bool
    note: str
    disabled: bool
    problem: str


def panel_context(situation: Situation, query: Query, done: Replay) -> dict[str, Any]:
    """The tuning panel: knobs in groups, switches, circumstances, presets."""
    reasons = _reasons(query, done)
    knobs = [_knob(s, situation, query, reasons, done.lines) for s in SETTINGS if _in_panel(s)]
    return {
        "groups": [
            (group, [knob for knob in knobs if knob.setting.group == group])
            for group in PANEL_GROUPS
        ],
        "query": query,
        "around": query.around,
        "paths": PATH_TITLES,
        "rule_sets": RULE_SETS,
        "base_rules": base_rules(query.around),
        "constants": constant_knobs(situation, query),
        "presets": PRESETS,
        "summary_sources": [(name, SOURCE_TITLES[name]) for name in CHOICES],
    }


def _in_panel(setting: Setting) -> bool:
    return setting.has_slider or setting.key in SWITCHES or setting.key in TEXTS


def _knob(
    setting: Setting,
    situation: Situation,
    query: Query,
    reasons: Mapping[str, str],
    lines: Lines,
) -> Knob:
    value = getattr(query.policy, setting.name)
    unset = _unset(setting, lines)
    return Knob(
        setting=setting,
        value="" if value is None else value,
        text=_text(value),
        slider=_text(value if value is not None else unset),
        changed=value != getattr(situation.policy, setting.name),
        note=reasons.get(setting.key, ""),
        disabled=setting.key not in NEVER_LOCKED and is_disabled(setting.key, reasons),
        problem=query.problems.get(setting.key, ""),
    )


def _unset(setting: Setting, lines: Lines) -> Any:
    """Where the slider of an unset setting stands: at the value that holds instead."""
    if setting.group == "Window" and setting.key != "maxTokens":
        return lines.window
    return setting.low


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def knob_notes(situation: Situation, query: Query, done: Replay) -> dict[str, str]:
    """A note for every knob, empty ones too, so that a move can take one away."""
    reasons = _reasons(query, done)
    notes = {s.name: reasons.get(s.key, "") for s in SETTINGS if _in_panel(s)}
    return notes | {knob.name: knob.note for knob in constant_knobs(situation, query)}


def _reasons(query: Query, done: Replay) -> Mapping[str, str]:
    """Why settings do nothing, by key, and what comes of odd ones."""
    return {
        **odd_settings(query.policy, done.lines),
        **ineffective(query.policy, done.lines, done.summaries),
        **pruning_notes(query.policy, query.around),
        **unread(query.around.rules),
    }
