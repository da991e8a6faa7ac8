"""Who summarises for an agent: the built-in one, a model of the team, or an installed plug-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compaction_app.connection_models import ModelConnection
from compaction_app.engine.compaction.requests import CredentialsAnswer
from compaction_app.plugins import Summarisers
from compaction_app.sealed import Unreadable
from compaction_app.summarisers.asking import Asked
from compaction_app.summarisers.by_model import ByModel
from compaction_app.summarisers.chat import ChatModel, Stopped
from compaction_app.summarisers.interface import Summariser
from sessions_app.models import Team


@dataclass(frozen=True, slots=True)
class Chosen:
    """The summariser that was asked for, or the default one with the ``problem`` that stands in.

    ``all`` are those that ``compaction.provider`` may name; ``credentials`` say whether the one that was
    asked for can be used at all.
    """

    summariser: Summariser
    all: Summarisers
    problem: str = ""
    credentials: CredentialsAnswer = field(default_factory=lambda: CredentialsAnswer(has_key=True))


def choose(team: Team, name: str, stopped: Stopped, on_asked: Callable[[Asked], None]) -> Chosen:
    """The summariser of that name among those that the team has."""
    models: list[Summariser] = []
    unreadable: dict[str, str] = {}
    for connection in ModelConnection.objects.filter(team=team).order_by("name"):
        try:
            model = connection.chat_model()
        except Unreadable as error:
            unreadable[connection.name] = str(error)
            continue
        models.append(ByModel(model, stopped, on_asked, connection.name))
    everything = Summarisers(models)
    found = everything.get(name)
    if name in unreadable:
        return Chosen(found, everything, credentials=CredentialsAnswer(error=unreadable[name]))
    problem = ""
    if name not in everything.names:
        why = next((p.reason for p in everything.problems if p.name == name), "nobody knows it")
        problem = f'The summariser "{name}" cannot be had ({why}); "{found.name}" stands in.'
    return Chosen(found, everything, problem)


def connection_of(team: Team, name: str) -> tuple[ModelConnection, ChatModel] | None:
    """The team's model of that name; none when there is no such one.

    Raises:
        Unreadable: when its key was sealed with another SECRET_KEY.
    """
    found = ModelConnection.objects.filter(team=team, name=name).first()
    return None if found is None else (found, found.chat_model())


def choices(team: Team) -> list[str]:
    """The names that an agent's form offers."""
    names = (
        ModelConnection.objects.filter(team=team).order_by("name").values_list("name", flat=True)
    )
    return list(dict.fromkeys((*Summarisers().names, *names)))
