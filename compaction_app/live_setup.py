"""Under which settings a live session runs, kept in memory while nothing changes them.

Every request of an agent asks for it, and it depends on the agent alone: its own fields, the newest version
of its policy, its workspace files, and the kind of the session's key.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.agent_setup import agent_setup, prompt_of, run_setup_of
from compaction_app.engine.composition.agent_prompt import AgentPrompt
from compaction_app.engine.composition.file_selection import is_cron_key, is_subagent_key
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.models import PolicyVersion
from sessions_app.loaded import kept
from sessions_app.models import Agent, Session
from sessions_app.writing import CannotWrite

KEPT_SETUPS: Final = 64
_TEXTS: Final = ("provider", "model", "path", "time_zone", "system_prompt", "config_text")
_JSON: Final = ("windows", "tools", "skills")
_setups: OrderedDict[tuple[Any, ...], LiveSetup] = OrderedDict()


@dataclass(frozen=True, slots=True)
class LiveSetup:
    """Everything that is fixed while a request of an agent is answered."""

    setup: RunSetup
    system: AgentPrompt

    @classmethod
    def of(cls, session: Session) -> LiveSetup:
        """The setup of a live session by its agent as it is now.

        Raises:
            CannotWrite: for a session whose agent is gone.
        """
        agent = session.agent
        if agent is None:
            raise CannotWrite(
                "The session's agent is gone; nobody says under which settings it runs."
            )
        return kept(
            _setups, _key(agent, session.key), lambda: _made(agent, session.key), KEPT_SETUPS
        )


def _made(agent: Agent, session_key: str) -> LiveSetup:
    own = agent_setup(agent)
    system = prompt_of(own, session_key)
    return LiveSetup(run_setup_of(own, system.chars), system)


def _key(agent: Agent, session_key: str) -> tuple[Any, ...]:
    """Everything that a setup is made of. Versions of a policy and snapshots of a workspace never change."""
    versions = PolicyVersion.objects.filter(agent=agent.pk).order_by("-number")
    return (
        agent.uuid,
        versions.values_list("uuid", flat=True).first(),
        agent.workspace_id,
        agent.flush_first,
        is_subagent_key(session_key),
        is_cron_key(session_key),
        *(getattr(agent, name) for name in _TEXTS),
        *(json.dumps(getattr(agent, name)) for name in _JSON),
    )
