"""Policies of agents: saved as numbered versions that never change, compared, and put to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from compaction_app.engine.policy import BY_KEY, SETTINGS, Policy, with_changes
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS
from compaction_app.models import PolicyVersion
from sessions_app.models import Agent
from sessions_app.rows import storable


class VersionMoved(Exception):
    """Somebody has saved a version since; ``newest`` is its number."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"The newest version is {newest} now.")
        self.newest = newest


class UnknownRuleSet(ValueError):
    """A rule set that nobody knows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that two policies have differently, each value as a person reads it."""

    key: str
    label: str
    unit: str
    before: str
    after: str


def newest_version(agent: Agent | None) -> PolicyVersion | None:
    """The version in force; none for an agent that only has its configuration."""
    if agent is None:
        return None
    return PolicyVersion.objects.filter(agent=agent).order_by("-number").first()


def save_version(
    agent: Agent,
    settings: Mapping[str, Any],
    *,
    rule_set: str = DEFAULT_RULE_SET.id,
    author: AbstractBaseUser | AnonymousUser | None = None,
    note: str = "",
    expected: int | None = None,
) -> PolicyVersion:
    """A new version with exactly these explicit settings.

    Args:
        expected: the number of the version that the writer has seen, 0 for none.

    Raises:
        PolicyError: with every value that is not accepted, and every unknown key.
        UnknownRuleSet: for a rule set that nobody knows.
        VersionMoved: when the newest version is another than the one expected.
    """
    if rule_set not in RULE_SETS:
        raise UnknownRuleSet(f"There is no rule set {rule_set!r}; known: {', '.join(RULE_SETS)}.")
    explicit = read_settings(settings)
    with transaction.atomic():
        Agent.objects.select_for_update().only("pk").get(pk=agent.pk)
        newest = newest_version(agent)
        number = newest.number if newest else 0
        if expected is not None and expected != number:
            raise VersionMoved(number)
        return PolicyVersion.objects.create(
            agent=agent,
            number=number + 1,
            settings=explicit,
            rule_set=rule_set,
            author_id=author.pk if author is not None else None,
            note=storable(note, 300),
        )


def read_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Explicit settings as they are stored: accepted, in the order of the policy.

    Raises:
        PolicyError: with every value that is not accepted, and every unknown key.
    """
    policy = with_changes(Policy(), values)
    found = ((s.key, getattr(policy, s.name)) for s in SETTINGS if s.key in values)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found}


def policy_with(version: PolicyVersion | None, base: Policy) -> Policy:
    """``base``, which a configuration gives, with what a version sets on purpose."""
    return with_changes(base, version.settings) if version else base


def policy_differences(before: Policy, after: Policy) -> list[Difference]:
    """The settings that two policies have differently, in the policy's order."""
    changed = after.changes(before)
    return [
        Difference(
            key, BY_KEY[key].label, BY_KEY[key].unit, _shown(before, key), _shown(after, key)
        )
        for key in changed
    ]


def shown_value(value: Any) -> str:
    """A setting's value as a person reads it."""
    if value is None or value == "" or value == ():
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _shown(policy: Policy, key: str) -> str:
    return shown_value(getattr(policy, BY_KEY[key].name))
