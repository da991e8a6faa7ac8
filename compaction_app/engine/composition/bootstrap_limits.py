"""How much of the workspace files may go into the prompt (spec compaction 5.2, 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compaction_app.engine.config_value import value_at
from compaction_app.engine.recovery_limits import agent_entry
from sessions_app.tokens import javascript as js

WarningMode = Literal["off", "once", "always"]
WARNING_MODES: tuple[WarningMode, ...] = ("off", "once", "always")


@dataclass(frozen=True, slots=True)
class LimitRules:
    """Defaults in characters, and whether an agent's own entry may override them.

    ``files`` are limits of single files by name, which no setting raises.
    """

    max_chars: int
    total_max_chars: int
    warning: WarningMode
    per_agent: bool
    files: Mapping[str, int] = field(default_factory=dict)

    def of_file(self, name: str, limit: float) -> float:
        """The limit of one file."""
        return min(limit, self.files.get(name.upper(), limit))


LIMITS_2026_3 = LimitRules(20_000, 150_000, "once", per_agent=False)
LIMITS_2026_4_20 = LimitRules(12_000, 60_000, "once", per_agent=False)
LIMITS_2026_5_28 = LimitRules(12_000, 60_000, "always", per_agent=True)
LIMITS_2026_9 = LimitRules(20_000, 60_000, "always", per_agent=True, files={"USER.MD": 4_000})


@dataclass(frozen=True, slots=True)
class BootstrapLimits:
    """``bootstrapMaxChars`` per file, ``bootstrapTotalMaxChars``, and when to warn of cuts."""

    max_chars: int
    total_max_chars: int
    warning: WarningMode


def bootstrap_limits(config: Any, agent_id: str | None, rules: LimitRules) -> BootstrapLimits:
    """The limits that apply: the agent's, else the defaults' setting, else the version's default."""
    agent = agent_entry(config, agent_id) if rules.per_agent else None
    defaults = value_at(config, "agents", "defaults")

    def limit(name: str, default: int) -> int:
        given = (js.pos_int(value_at(owner, name)) for owner in (agent, defaults))
        return next((value for value in given if value is not None), default)

    mode = value_at(defaults, "bootstrapPromptTruncationWarning")
    return BootstrapLimits(
        limit("bootstrapMaxChars", rules.max_chars),
        limit("bootstrapTotalMaxChars", rules.total_max_chars),
        next((known for known in WARNING_MODES if known == mode), rules.warning),
    )
