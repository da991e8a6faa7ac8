"""Context engines and summarisers of third parties, found by their entry points.

A distribution names them in its metadata; nothing of it is imported before it is used. One that fails
is set aside with the reason, and the built-in one takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from compaction_app.context_engines import EngineHost, Factory
from compaction_app.engine.compaction.requests import NOT_REGISTERED, ModelCall, ProviderCall
from compaction_app.engine.context_engine.registry import PLUGIN_PREFIX
from compaction_app.summarisers.extractive import Extractive
from compaction_app.summarisers.interface import Summariser

ENGINE_GROUP = "contextlab.context_engines"
SUMMARISER_GROUP = "contextlab.summarisers"
DEFAULT_SUMMARISER = Extractive.name


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """Why a plug-in is not used: its kind, its name, who ships it, what went wrong."""

    group: str
    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f'Plug-in "{self.name}" of {self.distribution} is not used: {self.reason}'


def register_engines(host: EngineHost) -> list[PluginProblem]:
    """Register every installed context engine; those whose id is taken are reported.

    An engine that cannot be loaded or built is quarantined by the host when it is asked for.
    """
    problems = []
    for point in _points(ENGINE_GROUP):
        owner = PLUGIN_PREFIX + _distribution(point)
        registration = host.register(point.name, owner, _factory(point))
        if not registration.ok:
            reason = f"the id belongs to {registration.existing_owner}"
            problems.append(_problem(point, reason))
    return problems


class Summarisers:
    """The summarisers there are: the given ones, and those that are installed beside them."""

    def __init__(self, built_in: Iterable[Summariser] = ()) -> None:
        self.problems: list[PluginProblem] = []
        self._ready: dict[str, Summariser] = {Extractive.name: Extractive()}
        self._ready.update((one.name, one) for one in built_in)
        self._installed: dict[str, EntryPoint] = {}
        for point in _points(SUMMARISER_GROUP):
            if point.name in self.names:
                self.problems.append(_problem(point, "the name is taken"))
            else:
                self._installed[point.name] = point

    @property
    def names(self) -> tuple[str, ...]:
        """Those that can be asked for; an installed one that turned out to fail is not among them."""
        return (*self._ready, *self._installed)

    def get(self, name: str = DEFAULT_SUMMARISER) -> Summariser:
        """The summariser of that name; the default one in place of one that cannot be had."""
        point = self._installed.pop(name, None)
        if point is not None:
            self._load(point)
        return self._ready.get(name) or self._ready[DEFAULT_SUMMARISER]

    def providers(self, reserve_tokens: float) -> Mapping[str, Callable[[ProviderCall], Any]]:
        """All of them as what ``compaction.provider`` can name: asked once, for the whole history.

        ``reserve_tokens`` bounds the answer as it does that of a model. One that turns out to fail
        when it is loaded counts as not registered.
        """

        def ask(name: str, call: ProviderCall) -> Any:
            summariser = self.get(name)
            if name not in self.names:
                return NOT_REGISTERED
            return summariser.summarise(
                ModelCall(call.messages, reserve_tokens, call.previous_summary, call.instructions)
            )

        return {name: partial(ask, name) for name in self.names}

    def _load(self, point: EntryPoint) -> None:
        try:
            built = _factory(point)()
        except Exception as error:  # a plug-in may raise anything
            self.problems.append(_problem(point, f"{type(error).__name__}: {error}"))
            return
        if callable(getattr(built, "summarise", None)):
            self._ready[point.name] = built  # type: ignore[assignment]  # its contract was looked at
        else:
            self.problems.append(_problem(point, "it has no method summarise"))


def quarantined(host: EngineHost) -> Mapping[str, str]:
    """What went wrong with engines that are not used any more, in one sentence each."""
    return {
        engine: f'Context engine "{engine}" is not used: {found.operation} failed: {found.reason}'
        for engine, found in host.quarantines.items()
    }


def _points(group: str) -> Iterator[EntryPoint]:
    """In the order of names and distributions, so that of two with one name always the same wins."""
    yield from sorted(entry_points(group=group), key=lambda p: (p.name, _distribution(p)))


def _factory(point: EntryPoint) -> Factory:
    def build() -> object:
        built: object = point.load()()
        return built

    return build


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown distribution"


def _problem(point: EntryPoint, reason: str) -> PluginProblem:
    return PluginProblem(point.group, point.name, _distribution(point), reason)
