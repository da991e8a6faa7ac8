"""Stored sessions for the doctor: an agent's own, or those that an uploaded index names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from django.db.models import Count, Q, QuerySet

from compaction_app.engine.diagnose import Subject, findings
from compaction_app.engine.doctor.comparison import Comparison, compare_rule_sets
from compaction_app.engine.doctor.ledger import Case, Ledger
from compaction_app.engine.doctor.report import Configuration
from compaction_app.engine.lines import lines_of
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.session_policy import session_policy, under_rules
from compaction_app.runs import agent_id_of, replay_for, signs_for, situation_of, timeline_for
from sessions_app import access
from sessions_app.models import Agent, Session

MOST_SESSIONS: Final = 20
"""A page looks at so many sessions, those with the latest activity; the command looks at all."""


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """An agent of the list to choose from."""

    agent: Agent
    sessions: int


def stored_agents(user: access.Viewer) -> list[StoredAgent]:
    """The agents that files were imported of, with the number of their sessions."""
    found = (
        access.visible(Agent.objects.filter(is_live=False), user)
        .annotate(session_count=Count("sessions", filter=Q(sessions__is_live=False)))
        .filter(session_count__gt=0)
        .order_by("name", "home", "pk")
    )
    return [StoredAgent(agent, agent.session_count) for agent in found]


def sessions_of(agent: Agent) -> QuerySet[Session]:
    return _latest(agent.sessions.filter(is_live=False))


def sessions_named(user: access.Viewer, ids: Iterable[str]) -> QuerySet[Session]:
    """The stored sessions of the user's teams with such ids, as an index names them."""
    found = access.visible(Session.objects.filter(is_live=False), user)
    return _latest(found.filter(windows__external_id__in=list(ids)[:1000]).distinct())


def _latest(found: QuerySet[Session]) -> QuerySet[Session]:
    return found.select_related("agent").order_by("-last_at", "-pk")


def ledger_of(
    sessions: Iterable[Session], config: Configuration, rules: RuleSet, agent: str = ""
) -> Ledger:
    """The sessions judged under a configuration; ``agent`` is whose settings hold, its own if empty."""
    ledger = Ledger()
    for session in sessions:
        case = _case(session, config, rules, agent)
        if case is not None:
            ledger.add(case, findings(case.subject))
    return ledger


def comparison_of(session: Session) -> Comparison:
    """A session and its own configuration under every rule set."""
    situation = situation_of(session)
    policy, around = situation.policy, situation.around
    totals = {
        name: replay_for(
            situation, under_rules(policy, around, rules), replace(around, rules=rules)
        ).totals
        for name, rules in RULE_SETS.items()
    }
    return compare_rule_sets(policy, around, around.config, totals)


def _case(session: Session, config: Configuration, rules: RuleSet, agent: str) -> Case | None:
    if not session.windows.exists():
        return None
    situation = situation_of(session)
    known = session_policy(
        config.values,
        session.index_entry or {},
        session.provider,
        session.model,
        rules,
        agent or agent_id_of(session),
    )
    around = replace(known.around, path=situation.around.path)
    subject = Subject(
        policy=known.policy,
        around=around,
        lines=lines_of(known.policy, around),
        grown=timeline_for(situation),
        signs=signs_for(session, situation.window),
        entry=session.index_entry or None,
        has_config=config.is_given,
    )
    return Case(str(session.uuid), session.title, subject, partial(replay_for, situation))
