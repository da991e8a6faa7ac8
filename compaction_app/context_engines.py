"""Python objects as context engines: built and called the way the engine's registry asks for it.

The registry decides which engine answers and which one is quarantined; here its requests are carried
out. Methods have Python names (``ingest_batch`` for ``ingestBatch``), take the parameters as one
mapping and return a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from compaction_app.engine.context_engine.contract import EngineFailure, EngineShape
from compaction_app.engine.context_engine.legacy import LegacyEngine
from compaction_app.engine.context_engine.registry import (
    CORE_OWNER,
    DEFAULT_ENGINE,
    BuildEngine,
    CallEngine,
    ContextEngines,
    Quarantine,
    Registration,
    Resolved,
    Steps,
)

METHODS = (
    "bootstrap",
    "ingest",
    "ingestBatch",
    "assemble",
    "afterTurn",
    "compact",
    "maintain",
    "prepareSubagentSpawn",
    "onSubagentEnded",
    "dispose",
)
Factory = Callable[[], object]
Result = TypeVar("Result")

_CAPITAL = re.compile("[A-Z]")


class EngineHost:
    """The engines of one process, with the objects behind them.

    ``compact`` is the built-in compaction, which the default engine calls.
    """

    def __init__(self, compact: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        self.registry = ContextEngines()
        self._factories: dict[str, Factory] = {}
        self._built: dict[str, object] = {}
        self.register(DEFAULT_ENGINE, CORE_OWNER, lambda: LegacyEngine(compact))

    @property
    def quarantines(self) -> Mapping[str, Quarantine]:
        """Why engines are not used any more, by their ids."""
        return self.registry.quarantines

    def register(self, engine_id: str, owner: str, factory: Factory) -> Registration:
        """Register an engine; raises ``ValueError`` for a blank owner."""
        registration = self.registry.register(engine_id, owner)
        if registration.ok:
            self._factories[engine_id] = factory
        return registration

    def resolve(self, slot: object = None) -> Resolved:
        """The engine of the setting ``plugins.slots.contextEngine``, or the default engine."""
        return self._run(self.registry.resolve(slot))

    def call(
        self, engine: Resolved, method: str, params: Mapping[str, Any], *, aborted: bool = False
    ) -> Any:
        """What the method returns, or an ``EngineFailure`` where the runtime throws."""
        return self._run(self.registry.call(engine, method, params, aborted=aborted))

    def _run(self, steps: Steps[Result]) -> Result:
        return _end_of(steps, self._answer)

    def _answer(self, request: BuildEngine | CallEngine) -> Any:
        try:
            if isinstance(request, BuildEngine):
                return self._build(request.engine_id)
            method = getattr(self._built[request.engine_id], python_name(request.method))
            return method(request.params)
        except Exception as error:  # an engine is foreign code and may raise anything
            return EngineFailure(type(error).__name__, str(error))

    def _build(self, engine_id: str) -> object:
        if engine_id not in self._built:
            self._built[engine_id] = self._factories[engine_id]()
        built = self._built[engine_id]
        if built is None or isinstance(built, str | int | float | list | dict):
            return built
        methods = (m for m in METHODS if callable(getattr(built, python_name(m), None)))
        return EngineShape(getattr(built, "info", None), frozenset(methods))


def python_name(method: str) -> str:
    """``ingestBatch`` as Python spells it: ``ingest_batch``."""
    return _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", method)


def _end_of(
    steps: Generator[Any, Any, Result], answer_to: Callable[[BuildEngine | CallEngine], Any]
) -> Result:
    answer: Any = None
    try:
        while True:
            answer = answer_to(steps.send(answer))
    except StopIteration as end:
        result: Result = end.value
        return result
