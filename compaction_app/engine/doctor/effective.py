"""Which value does each setting have for one agent, and where does it come from?

A running gateway works on the snapshot form of the configuration (runs 3.1): listed models are filled
in, compaction and pruning are not. Commands that load the file see those filled in, too; where that
differs, it is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.config.materialize import materialize
from compaction_app.engine.config.per_agent import agent_entry, with_agent_settings
from compaction_app.engine.policy import MODEL_KEYS, SETTINGS
from compaction_app.engine.policy_config import ReadPolicy, policy_from_config
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.setting import Setting

Source = Literal["agent", "explicit", "materialised", "default"]

SOURCE_TITLES: Final[Mapping[Source, str]] = {
    "agent": "set for this agent",
    "explicit": "set in openclaw.json",
    "materialised": "filled in by the runtime when it reads the file",
    "default": "default of the rule set",
}


WINDOW: Final = "contextWindow"
NOT_NAMED: Final = (
    "A listed model without a window is given this one in the runtime's own list; the windows above are "
    "resolved without it."
)


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting in force; ``place`` is where the file sets it or would."""

    setting: Setting
    value: Any
    source: Source
    place: str
    note: str = ""


def effective_settings(
    config: Mapping[str, Any], provider: str, model: str, agent: str, rules: RuleSet
) -> tuple[Effective, ...]:
    """Every setting of the policy record, in its order."""

    def read(form: Mapping[str, Any]) -> ReadPolicy:
        return policy_from_config(form, provider, model)

    own = with_agent_settings(config, agent, rules.per_agent)
    forms = _Forms(
        read(config),
        read(own),
        read(materialize(own, rules.materialize, "snapshot")),
        read(materialize(own, rules.materialize, "load")),
    )
    overridden = _overridden(config, agent, rules)
    return tuple(_effective(s, forms, overridden, provider, model, agent) for s in SETTINGS)


@dataclass(frozen=True, slots=True)
class _Forms:
    """The file as it is, with the agent's own settings, as the gateway sees it, as commands do."""

    file: ReadPolicy
    agent: ReadPolicy
    gateway: ReadPolicy
    loaded: ReadPolicy


def _effective(
    setting: Setting,
    forms: _Forms,
    overridden: frozenset[str],
    provider: str,
    model: str,
    agent: str,
) -> Effective:
    def value(read: ReadPolicy) -> Any:
        return getattr(read.policy, setting.name)

    place = place_of(setting, provider, model)
    refused = next((p for p in forms.agent.problems if p.startswith(f"{setting.key}:")), "")
    if setting.key in overridden and not refused:
        place = f"agents.list[{agent}].{setting.key}"
        return Effective(setting, value(forms.agent), "agent", place)
    note = f"Not accepted, so the default holds: {refused}" if refused else ""
    if setting.key in forms.file.explicit and not refused:
        return Effective(setting, value(forms.file), "explicit", place)
    if value(forms.gateway) != value(forms.agent):
        if setting.key == WINDOW and not note:
            note = NOT_NAMED
        return Effective(setting, value(forms.gateway), "materialised", place, note)
    if not refused and value(forms.loaded) != value(forms.gateway):
        seen = value(forms.loaded)
        note = f"Commands that load the file themselves work with {seen}; the gateway does not."
    return Effective(setting, value(forms.gateway), "default", place, note)


def place_of(setting: Setting, provider: str, model: str) -> str:
    """Where a setting stands in the file, as people write it."""
    if setting.key in MODEL_KEYS:
        return f"models.providers.{provider or '?'}.models[{model or '?'}].{setting.key}"
    return f"agents.defaults.{setting.key}"


def _overridden(config: Mapping[str, Any], agent: str, rules: RuleSet) -> frozenset[str]:
    """The settings that an agent sets for itself and that count, by key."""
    entry = agent_entry(config, agent)
    keys = (*rules.per_agent.replaced, *rules.per_agent.merged)
    found = set()
    for setting in SETTINGS:
        at: Any = {key: entry[key] for key in keys if key in entry}
        for part in setting.key.split("."):
            at = at.get(part) if isinstance(at, Mapping) else None
        if at is not None:
            found.add(setting.key)
    return frozenset(found)
