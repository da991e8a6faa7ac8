"""Which settings may one agent have for itself? (spec budgets 8.5)

Only a few; compaction and pruning are the same for all agents. An agent's window is used for nothing
but a hint after an overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

Json = Any


@dataclass(frozen=True, slots=True)
class PerAgentRules:
    """``replaced``: the agent's value instead of the default; ``merged``: key by key over it;
    ``own``: without a default that counts."""

    replaced: tuple[str, ...]
    merged: tuple[str, ...]
    own: tuple[str, ...]


OPENCLAW_2026_4_20: Final = PerAgentRules(replaced=(), merged=("contextLimits",), own=())
OPENCLAW_2026_5_28: Final = PerAgentRules(
    replaced=("contextInjection", "bootstrapMaxChars", "bootstrapTotalMaxChars"),
    merged=("contextLimits", "runRetries"),
    own=("contextTokens",),
)

OPENCLAW_2026_9: Final = PerAgentRules(
    replaced=("contextInjection", "bootstrapMaxChars", "bootstrapTotalMaxChars"),
    merged=("contextLimits",),
    own=(),
)


def agent_entry(config: object, agent_id: str) -> Mapping[str, Json]:
    """The agent's entry, from the list or by its id; ids are compared trimmed and without case.

    Empty when it has none.
    """
    entries = value_at(config, "agents", "entries")
    for name, agent in entries.items() if isinstance(entries, Mapping) else ():
        if isinstance(agent, Mapping) and js.norm(name) == js.norm(agent_id):
            return agent
    agents = value_at(config, "agents", "list")
    for agent in agents if isinstance(agents, list) else ():
        if isinstance(agent, Mapping) and js.norm(agent.get("id")) == js.norm(agent_id):
            return agent
    return {}


def agent_settings(config: object, agent_id: str, rules: PerAgentRules) -> dict[str, Json]:
    """The settings that hold for one agent; what nobody sets is left out."""
    agent = agent_entry(config, agent_id)
    defaults = value_at(config, "agents", "defaults")
    settings: dict[str, Json] = {}
    for key in rules.replaced:
        settings[key] = _first(agent.get(key), value_at(defaults, key))
    for key in rules.merged:
        settings[key] = {**_object(value_at(defaults, key)), **_object(agent.get(key))} or None
    for key in rules.own:
        settings[key] = agent.get(key)
    return {key: value for key, value in settings.items() if value is not None}


def with_agent_settings(
    config: Mapping[str, Json], agent_id: str, rules: PerAgentRules
) -> Mapping[str, Json]:
    """The configuration as the rules of a run read it: what the agent sets stands in the defaults.

    Its own window does not: no rule of a run reads it. The configuration itself where the agent has
    no settings.
    """
    shared = (*rules.replaced, *rules.merged)
    own = {k: v for k, v in agent_settings(config, agent_id, rules).items() if k in shared}
    if not agent_entry(config, agent_id).keys() & set(shared):
        return config
    agents = _object(config.get("agents"))
    defaults = {**_object(agents.get("defaults")), **own}
    return {**config, "agents": {**agents, "defaults": defaults}}


def _first(own: Json, default: Json) -> Json:
    return default if own is None else own


def _object(value: object) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
