"""How much of the workspace files may go into the prompt (spec compaction 5.2, 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from compaction_app.engine.pruning.context_limits import normal_agent_id
from sessions_app.tokens import javascript as js

WarningMode = Literal["off", "once", "always"]
WARNING_MODES: tuple[WarningMode, ...] = ("off", "once", "always")


@dataclass(frozen=True, slots=True)
class LimitRules:
    """Defaults in characters, and whether an agent's own entry may override them."""

    max_chars: int
    total_max_chars: int
    warning: WarningMode
    per_agent: bool


LIMITS_2026_3 = LimitRules(20_000, 150_000, "once", per_agent=False)
LIMITS_2026_4_20 = LimitRules(12_000, 60_000, "once", per_agent=False)
LIMITS_2026_5_28 = LimitRules(12_000, 60_000, "always", per_agent=True)


@dataclass(frozen=True, slots=True)
class BootstrapLimits:
    """``bootstrapMaxChars`` per file, ``bootstrapTotalMaxChars``, and when to warn of cuts."""

    max_chars: int
    total_max_chars: int
    warning: WarningMode


def bootstrap_limits(config: Any, agent_id: str | None, rules: LimitRules) -> BootstrapLimits:
    """The limits that apply: the agent's, else the defaults' setting, else the version's default."""
    defaults = record(record(record(config).get("agents")).get("defaults"))
    agent = agent_entry(config, agent_id) if rules.per_agent else {}

    def limit(name: str, default: int) -> int:
        return js.pos_int(agent.get(name)) or js.pos_int(defaults.get(name)) or default

    mode = defaults.get("bootstrapPromptTruncationWarning")
    return BootstrapLimits(
        limit("bootstrapMaxChars", rules.max_chars),
        limit("bootstrapTotalMaxChars", rules.total_max_chars),
        next((known for known in WARNING_MODES if known == mode), rules.warning),
    )


def agent_entry(config: Any, agent_id: str | None) -> Mapping[str, Any]:
    """The agent's own entry of ``agents.list``; empty when there is none."""
    entries = record(record(config).get("agents")).get("list")
    if not agent_id or not isinstance(entries, list):
        return {}
    wanted = normal_agent_id(agent_id)
    named = (
        e for e in entries if isinstance(e, Mapping) and normal_agent_id(e.get("id")) == wanted
    )
    return next(named, {})


def record(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}
