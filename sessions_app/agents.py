"""Which agent do files belong to? By the folder they lie in, else by the sessions they speak of.

A name is no identity: most agents are called "main". A state folder on this machine is known by its
path. An upload has no path; it belongs to the agent that already has one of its sessions, or one with
the very same configuration, and is an agent of its own otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from django.db.models import Q, QuerySet

from sessions_app import signals
from sessions_app.importers.index import Index
from sessions_app.models import Agent, Session, Team
from sessions_app.rows import storable

_IDS_A_QUERY = 500
NO_SESSION_YET = "No session is stored that it could belong to; upload it together with one."
SEVERAL_AGENTS = (
    "Several agents are stored, and nothing says which of them it belongs to; upload it together with "
    "the sessions.json or a transcript of that agent, or choose the agent in the doctor."
)


class UnknownOwner(ValueError):
    """Nothing tells whose a configuration is; the message says what would."""


def agent_for(team: Team, name: str, home: str, known: Iterable[Session], text: str) -> Agent:
    """The agent of files that lie together; made where there is none yet.

    Args:
        home: the folder's absolute path, "" for an upload.
        known: the sessions among the files that are stored already.
        text: the configuration among the files, "" without one.
    """
    name = storable(name, 200)
    agents = _imported(team)
    if home and (found := agents.filter(home=home, name=name).first()):
        return found
    owners = agents.filter(pk__in={s.agent_id for s in known if s.agent_id})
    adoptable = [agent for agent in owners if not (home and _lies_elsewhere(agent))]
    if len(adoptable) == 1:
        if home:
            adoptable[0].home, adoptable[0].name = home, name
            adoptable[0].save(update_fields=["home", "name"])
        return adoptable[0]
    alike = agents.filter(home="", name=name, config_text=text).first() if text else None
    return alike if alike and not home else Agent.objects.create(team=team, name=name, home=home)


def owners_of_config(team: Team, name: str, home: str, text: str) -> list[Agent]:
    """The agents that a configuration which comes alone is for.

    Those of its folder; of an upload those that have it already, else those without one (sessions
    without an agent get one), else the only one there is.

    Raises:
        UnknownOwner: when that leaves none, or nothing to choose by.
    """
    agents = _imported(team)
    if home:
        here = list(agents.filter(home=home).order_by("pk"))
        return here or [Agent.objects.create(team=team, name=storable(name, 200), home=home)]
    used = agents.filter(sessions__isnull=False).distinct().order_by("pk")
    same = list(used.filter(config_text=text))
    lacking = list(used.filter(config_text=""))
    alone = Session.objects.filter(team=team, agent=None, is_live=False)
    if same and not lacking and not alone.exists():
        return same
    if alone.exists():
        agent = same[0] if same else Agent.objects.create(team=team, name=storable(name, 200))
        alone.update(agent=agent)
        return [*lacking, agent]
    if lacking:
        return lacking
    if not used:
        raise UnknownOwner(NO_SESSION_YET)
    if len(used) > 1:
        raise UnknownOwner(SEVERAL_AGENTS)
    return list(used)


def configure(
    owners: Iterable[Agent], text: str
) -> tuple[Literal["new", "changed", ""], list[Session]]:
    """Keep a configuration with its agents; what that was, and the sessions it now holds for."""
    status: Literal["new", "changed", ""] = ""
    reached: list[Session] = []
    for agent in owners:
        if agent.config_text != text:
            status = "changed" if agent.config_text else "new"
            agent.config_text = text
            agent.save(update_fields=["config_text"])
            reached += agent.sessions.all()
    for session in reached:
        signals.session_changed.send(Session, session=session)
    return status, reached


def stored_sessions(
    team: Team, heads: Iterable[str] = (), ids: Iterable[str] = ()
) -> Iterator[Session]:
    """The team's sessions with a transcript of such a first line (by digest) or session id."""
    for some in _parts(heads):
        yield from _sessions(team, Q(windows__head_digest__in=some))
    for some in _parts(storable(identity, 200) for identity in ids):
        yield from _sessions(team, Q(windows__external_id__in=some))


def named_in(index: Index) -> str:
    """The id of the agent that the keys of an index name, "" when they name none or several."""
    keys = (known.key.split(":") for known in index.by_session_id.values())
    names = {parts[1] for parts in keys if len(parts) >= 3 and parts[0] == "agent"}
    return names.pop() if len(names) == 1 else ""


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    """The values without the empty ones, in parts that one query takes."""
    left = iter(value for value in values if value)
    while some := list(islice(left, _IDS_A_QUERY)):
        yield some


def _sessions(team: Team, condition: Q) -> QuerySet[Session]:
    return Session.objects.filter(condition, team=team, is_live=False).distinct()


def _imported(team: Team) -> QuerySet[Agent]:
    """The agents that files are of; one that is fed through the API has its settings from there."""
    return Agent.objects.filter(team=team, is_live=False)


def _lies_elsewhere(agent: Agent) -> bool:
    """Whether the agent's folder is another one that is still there, and not one that was moved."""
    return bool(agent.home) and Path(agent.home).is_dir()
