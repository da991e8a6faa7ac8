"""Policies by version: numbered, never changed, checked, and read by the agent's setup."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction_app.agent_setup import agent_setup
from compaction_app.engine.policy import Policy, PolicyError
from compaction_app.policies import (
    UnknownRuleSet,
    VersionMoved,
    newest_version,
    policy_differences,
    save_version,
)
from sessions_app.models import Agent
from tests.conftest import Person


@pytest.fixture
def agent(alice: Person) -> Agent:
    return Agent.objects.create(team=alice.team, name="main", provider="p", model="m")


def test_each_change_is_a_new_version_with_who_and_why(alice: Person, agent: Agent) -> None:
    first = save_version(agent, {"compaction.reserveTokens": "9,000"}, author=alice.user)
    second = save_version(agent, {}, note="back to defaults")
    assert (first.number, second.number) == (1, 2)
    assert (first.author, second.author, second.note) == (alice.user, None, "back to defaults")
    first.refresh_from_db()
    assert first.settings == {"compaction.reserveTokens": 9_000}
    assert newest_version(agent) == second


def test_who_has_not_seen_the_newest_version_saves_nothing(agent: Agent) -> None:
    save_version(agent, {}, expected=0)
    with pytest.raises(VersionMoved) as moved:
        save_version(agent, {}, expected=0)
    assert moved.value.newest == 1
    assert agent.policies.count() == 1


def test_what_is_not_accepted_is_told_by_key(agent: Agent) -> None:
    with pytest.raises(PolicyError) as refused:
        save_version(agent, {"compaction.mode": "wild", "no.such": 1})
    assert set(refused.value.problems) == {"compaction.mode", "no.such"}
    with pytest.raises(UnknownRuleSet, match="known: openclaw"):
        save_version(agent, {}, rule_set="openclaw-1999")
    assert newest_version(agent) is None


def test_a_version_stands_above_the_configuration_and_windows_below_both(agent: Agent) -> None:
    agent.config_text = (
        '{agents: {defaults: {compaction: {reserveTokens: 5000, mode: "safeguard"}}}}'
    )
    agent.windows = {"contextWindow": 64_000, "maxTokens": 4_000}
    agent.save()
    own = agent_setup(agent)
    assert (own.policy.reserve_tokens, own.policy.context_window) == (5_000, 64_000)
    version = save_version(
        agent, {"compaction.reserveTokens": 7_000}, rule_set="openclaw-2026.4.20"
    )
    own = agent_setup(agent)
    assert (own.policy.reserve_tokens, own.policy.compaction_mode) == (7_000, "safeguard")
    assert (version.mode, own.around.rules.id) == ("default", "openclaw-2026.4.20")
    assert own.policy.max_tokens == 4_000


def test_a_broken_configuration_is_a_finding_and_the_version_holds(agent: Agent) -> None:
    agent.config_text = "{agents:"
    agent.save()
    save_version(agent, {"contextWindow": 9_000})
    own = agent_setup(agent)
    assert own.policy.context_window == 9_000
    assert [fault.code for fault in own.faults]


def test_differences_name_what_both_have() -> None:
    after = replace(
        Policy(), reserve_tokens=1_234, notify_user=True, post_compaction_sections=("A", "B")
    )
    shown = {d.key: (d.before, d.after) for d in policy_differences(Policy(), after)}
    assert shown == {
        "compaction.reserveTokens": ("16,384", "1,234"),
        "compaction.notifyUser": ("off", "on"),
        "compaction.postCompactionSections": ("not set", "A, B"),
    }
