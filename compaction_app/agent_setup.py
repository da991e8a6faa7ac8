"""Under which settings an agent runs: its record and its policy's version, as the engine wants them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.compaction.post_context import PostContext, post_compaction_context
from compaction_app.engine.composition.agent_prompt import AgentPrompt, AgentTexts, agent_prompt
from compaction_app.engine.composition.skills import Skill
from compaction_app.engine.diagnose import Finding
from compaction_app.engine.diagnose.configuration import read_config
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import (
    config_with_policy,
    policy_from_config,
    with_model_windows,
    with_settings,
)
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.engine.turn.setup import RunSetup, SystemSizes, run_setup
from compaction_app.models import PolicyVersion
from compaction_app.policies import newest_version
from sessions_app.models import Agent
from sessions_app.workspace import files_of

AGENTS_FILE: Final = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What an agent's runs have in common.

    ``version`` is the policy in force, none while only its configuration says something; ``base`` is
    what that configuration gives, ``faults`` are the findings about it.
    """

    agent: Agent
    version: PolicyVersion | None
    base: Policy
    policy: Policy
    around: Circumstances
    faults: tuple[Finding, ...] = ()


def agent_setup(agent: Agent, version: PolicyVersion | None = None) -> AgentSetup:
    """The agent under its newest policy, or under the version given."""
    version = version or newest_version(agent)
    rules = RULE_SETS.get(version.rule_set, DEFAULT_RULE_SET) if version else DEFAULT_RULE_SET
    text = agent.config_text
    given = read_config(text, rules.config) if text else None
    provider, model = agent.provider, agent.model
    own = with_model_windows(given.config if given else {}, provider, model, agent.windows)
    own = _with_zone(own, agent.time_zone)
    config = with_settings(own, provider, model, version.settings) if version else own
    unset_mode = rules.materialize.snapshot_mode
    read = policy_from_config(config, provider, model, unset_mode)
    around = Circumstances(
        path=next((path for path in PATHS if path == agent.path), "chat"),
        provider=provider,
        model=model,
        rules=rules,
        config=config,
    )
    refused = tuple(Finding("CONFIG_INVALID", problem) for problem in read.problems)
    faults = (given.findings if given else ()) or refused
    base = policy_from_config(own, provider, model, unset_mode).policy
    return AgentSetup(agent, version, base, read.policy, around, faults)


def prompt_of(setup: AgentSetup, session_key: str | None = None) -> AgentPrompt:
    """The agent's system prompt for a session with that key."""
    return agent_prompt(texts_of(setup.agent), setup.around.config, setup.around.rules, session_key)


def texts_of(agent: Agent) -> AgentTexts:
    """What the agent brings along, as it is now."""
    return AgentTexts(
        instructions=agent.system_prompt,
        files=files_of(agent),
        skills=[
            Skill(str(s.get("name", "")), str(s.get("description", "")), str(s.get("location", "")))
            for s in agent.skills
        ],
        tools=agent.tools,
    )


def refresh_of(setup: AgentSetup, now_ms: float) -> PostContext:
    """What the model is told again after a compaction: sections of the workspace's AGENTS.md."""
    around = setup.around
    config = config_with_policy(setup.policy, around.provider, around.model, around.config)
    rules = around.rules.compaction
    text = files_of(setup.agent).get(AGENTS_FILE)
    return post_compaction_context(text, config, now_ms, rules.post_context, rules.sections)


def run_setup_of(setup: AgentSetup, system_chars: int) -> RunSetup:
    """The setup of the agent's runs, whose system prompt has that many characters.

    Where the agent wants it, a due flush goes before a due compaction, whatever the version does.
    """
    made = run_setup(setup.policy, setup.around, SystemSizes(chars=system_chars), NewIds())
    return replace(made, order=made.order.with_flush_first()) if setup.agent.flush_first else made


class NewIds:
    """Ids for new entries; from any thread."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return secrets.token_hex(8)


def _with_zone(config: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """The agent's time zone decides in which day's file a flush writes."""
    agents = config.get("agents")
    agents = dict(agents) if isinstance(agents, Mapping) else {}
    defaults = agents.get("defaults")
    defaults = dict(defaults) if isinstance(defaults, Mapping) else {}
    defaults.setdefault("userTimezone", zone)
    return {**config, "agents": {**agents, "defaults": defaults}}
