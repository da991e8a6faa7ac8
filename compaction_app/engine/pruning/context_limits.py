"""Which ``contextLimits`` of a configuration apply to an agent (spec pruning 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js

DEFAULT_AGENT_ID: Final = "main"

_PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z", re.ASCII)
_FOREIGN = re.compile(r"[^a-z0-9_-]+")


def normal_agent_id(value: object) -> str:
    """An agent's id as ids are compared: lower case, foreign characters as dashes, "main" if blank."""
    lower = js.norm(value)
    if _PLAIN_ID.match(lower):
        return lower
    return _FOREIGN.sub("-", lower).strip("-")[:64] or DEFAULT_AGENT_ID


def context_limits(config: Any, agent_id: str | None) -> Mapping[str, Any]:
    """The limits of ``agents.defaults``, overridden field by field by those of the agent's entry."""
    agents = _record(_record(config).get("agents"))
    defaults = _record(_record(agents.get("defaults")).get("contextLimits"))
    entries = agents.get("list")
    if not agent_id or not isinstance(entries, list):
        return defaults
    wanted = normal_agent_id(agent_id)
    for entry in entries:
        if isinstance(entry, Mapping) and normal_agent_id(entry.get("id")) == wanted:
            own = entry.get("contextLimits")
            return {**defaults, **own} if isinstance(own, Mapping) else defaults
    return defaults


def _record(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
