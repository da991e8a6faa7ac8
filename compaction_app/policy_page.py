"""The pages of policies: presets, the agents' versions, the difference between two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from compaction_app.agent_setup import agent_setup
from compaction_app.engine.policy import BY_KEY, Policy, with_changes
from compaction_app.engine.presets import PRESETS
from compaction_app.models import PolicyVersion
from compaction_app.policies import policy_differences, policy_with, shown_value
from sessions_app.models import Agent


@dataclass(frozen=True, slots=True)
class Explicit:
    """A setting that is set on purpose."""

    key: str
    help: str
    value: str
    unit: str


def policies_context(agents: QuerySet[Agent]) -> dict[str, Any]:
    """Presets, and each agent with its versions, newest first."""
    found = agents.prefetch_related("policies__author").order_by("name", "pk")
    return {
        "presets": [(preset, explicit_rows(preset.changes)) for preset in PRESETS],
        "agents": [
            (agent, sorted(agent.policies.all(), key=lambda version: -version.number))
            for agent in found
        ],
    }


def policy_context(version: PolicyVersion, other: PolicyVersion | None) -> dict[str, Any]:
    """One version, and what it has differently from ``other`` (none: from the configuration)."""
    agent = version.agent
    base = agent_setup(agent, version).base
    before = policy_with(other, base)
    versions = list(PolicyVersion.objects.filter(agent=agent).order_by("-number"))
    return {
        "agent": agent,
        "version": version,
        "other": other,
        "versions": versions,
        "is_newest": versions[0].pk == version.pk,
        "explicit": explicit_rows(version.settings),
        "differences": policy_differences(before, policy_with(version, base)),
        "rules_before": other.rule_set if other else None,
    }


def explicit_rows(settings: Mapping[str, Any]) -> list[Explicit]:
    """Explicit settings as a person reads them."""
    policy = with_changes(Policy(), settings)
    return [
        Explicit(
            key, BY_KEY[key].help, shown_value(getattr(policy, BY_KEY[key].name)), BY_KEY[key].unit
        )
        for key in settings
    ]
