"""Which context engine is used, and which one steps in when it fails (spec compaction 6).

The registry is the memory of one process: who registered what, and which engines are quarantined.
Building and calling engines is left to whoever drives the rules.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from compaction_app.engine.compaction.failures import ABORT_MESSAGE, ABORT_NAME
from compaction_app.engine.context_engine.contract import (
    EngineFailure,
    EngineShape,
    contract_violation,
)
from sessions_app.tokens import javascript as js

DEFAULT_ENGINE = "legacy"
CORE_OWNER = "core"
PUBLIC_OWNER = "public-sdk"
PLUGIN_PREFIX = "plugin:"
RETHROWN_METHODS = frozenset({"compact", "prepareSubagentSpawn"})
"""Failures of these reach the caller; only the next call goes to the default engine."""

OPTIONAL_KEYS: Mapping[str, frozenset[str]] = {
    "sessionKey": frozenset(
        {"bootstrap", "maintain", "ingest", "ingestBatch", "afterTurn", "assemble", "compact"}
    ),
    "prompt": frozenset({"assemble"}),
}
"""Parameters that older engines do not know, with the methods that are repeated without them."""

DOWNGRADED = "context engine downgraded to legacy"
EMPTY_RESULTS: Mapping[str, Mapping[str, Any]] = {
    "bootstrap": {"bootstrapped": False, "reason": DOWNGRADED},
    "maintain": {"changed": False, "bytesFreed": 0, "rewrittenEntries": 0, "reason": DOWNGRADED},
    "ingest": {"ingested": False},
    "ingestBatch": {"ingestedCount": 0},
}
"""What a quarantined engine's call results in where the default engine lacks the method."""

_ABORTED = re.compile("abort|cancelled|canceled", re.IGNORECASE)
_UNKNOWN_KEY = re.compile(
    r"unrecognized|unknown|unexpected|additional propert|not allowed|invalid (?:key|property)",
    re.IGNORECASE,
)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BuildEngine:
    """Run the factory of an engine. Answer: an EngineShape, an EngineFailure, or what it returned."""

    engine_id: str


@dataclass(frozen=True, slots=True)
class CallEngine:
    """Call a method of an engine. Answer: its result, or an EngineFailure."""

    engine_id: str
    method: str
    params: Mapping[str, Any]


Steps = Generator[BuildEngine | CallEngine, Any, Result]


@dataclass(frozen=True, slots=True)
class Registration:
    """Whether an engine was registered; if not, whose id it is."""

    ok: bool
    existing_owner: str | None = None


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why an engine is not used any more: the first thing that went wrong, and where."""

    engine_id: str
    operation: str
    reason: str
    owner: str | None = None


@dataclass(slots=True)
class Resolved:
    """The engine chosen for a slot. ``rejected`` collects the parameters it turned out not to know."""

    engine_id: str
    shape: EngineShape
    owner: str | None
    rejected: set[str] = field(default_factory=set)

    @property
    def plugin_id(self) -> str | None:
        if self.owner is None or not self.owner.startswith(PLUGIN_PREFIX):
            return None
        return self.owner.removeprefix(PLUGIN_PREFIX)


class ContextEngines:
    """The engines of one process."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.quarantines: dict[str, Quarantine] = {}

    def register(self, engine_id: str, owner: str, *, refresh: bool = False) -> Registration:
        """Register an engine; the id of another owner, and ``legacy`` but for the core, are taken.

        Raises:
            ValueError: for a blank owner.
        """
        name = js.trim(owner)
        if not name:
            quoted = js.json_text(owner)
            raise ValueError(
                f"registerContextEngineForOwner: owner must be a non-empty string, got {quoted}"
            )
        if engine_id == DEFAULT_ENGINE and name != CORE_OWNER:
            return Registration(False, CORE_OWNER)
        existing = self.owners.get(engine_id)
        if existing is not None and (existing != name or not refresh):
            return Registration(False, existing)
        self.owners[engine_id] = name
        self.quarantines.pop(engine_id, None)
        return Registration(True)

    def register_public(self, engine_id: str) -> Registration:
        """Register an engine of a third party, which can never be replaced."""
        return self.register(engine_id, PUBLIC_OWNER)

    def clear_owner(self, owner: str) -> None:
        for engine_id in [i for i, existing in self.owners.items() if existing == js.trim(owner)]:
            del self.owners[engine_id]
            self.quarantines.pop(engine_id, None)

    def resolve(self, slot: object) -> Steps[Resolved]:
        """The engine of a slot, or the default engine when that one cannot be had.

        Raises:
            LookupError: when the default engine is not registered.
            RuntimeError: when the default engine cannot be built.
        """
        engine_id = (js.trim(slot) if isinstance(slot, str) else "") or DEFAULT_ENGINE
        if engine_id in self.quarantines:
            engine_id = DEFAULT_ENGINE
        if engine_id not in self.owners:
            if engine_id == DEFAULT_ENGINE:
                known = ", ".join(self.owners) or "(none)"
                raise LookupError(
                    f'Context engine "{engine_id}" is not registered. Available engines: {known}'
                )
            self._quarantine(engine_id, "resolve", "not registered")
            return (yield from self.resolve(DEFAULT_ENGINE))
        built = yield BuildEngine(engine_id)
        operation, problem = "factory", None
        if isinstance(built, EngineFailure):
            problem = built.message
        elif (violation := contract_violation(engine_id, built)) is not None:
            operation, problem = "contract-validation", violation
        if problem is None:
            owner = None if engine_id == DEFAULT_ENGINE else self.owners[engine_id]
            return Resolved(engine_id, built, owner)
        if engine_id == DEFAULT_ENGINE:
            raise RuntimeError(problem)
        self._quarantine(engine_id, operation, problem)
        return (yield from self.resolve(DEFAULT_ENGINE))

    def info_id(self, engine: Resolved) -> Any:
        """The id the engine says it has: that of the default engine while it is quarantined."""
        return DEFAULT_ENGINE if engine.engine_id in self.quarantines else engine.shape.id

    def call(
        self, engine: Resolved, method: str, params: Mapping[str, Any], *, aborted: bool = False
    ) -> Steps[Any]:
        """Call a method; a failing engine is quarantined and the default engine answers instead.

        The result is an EngineFailure where the runtime throws.
        """
        if aborted:
            return EngineFailure(ABORT_NAME, ABORT_MESSAGE)
        if engine.engine_id == DEFAULT_ENGINE:
            return (yield CallEngine(engine.engine_id, method, params))
        if engine.engine_id in self.quarantines:
            return (yield from self._default_answer(method, params))
        answer = yield from self._compatibly(engine, method, params)
        if not isinstance(answer, EngineFailure):
            return answer
        return (yield from self._after_failure(engine, method, params, answer))

    def _after_failure(
        self, engine: Resolved, method: str, params: Mapping[str, Any], failure: EngineFailure
    ) -> Steps[Any]:
        """The abort that the call's own signal asked for is no fault of the engine."""
        looks_aborted = failure.name == ABORT_NAME or _ABORTED.search(failure.message) is not None
        if failure.signal_aborted and looks_aborted:
            return failure
        self._quarantine(engine.engine_id, method, failure.message)
        if method in RETHROWN_METHODS:
            return failure
        answer = yield from self._default_answer(method, params)
        return failure if isinstance(answer, EngineFailure) else answer

    def _default_answer(self, method: str, params: Mapping[str, Any]) -> Steps[Any]:
        default = yield from self.resolve(DEFAULT_ENGINE)
        if method not in default.shape.methods:
            return EMPTY_RESULTS.get(method)
        return (yield CallEngine(DEFAULT_ENGINE, method, params))

    def _compatibly(self, engine: Resolved, method: str, params: Mapping[str, Any]) -> Steps[Any]:
        """Call without the parameters that the engine has rejected, learning of new ones."""
        while True:
            dropped = {k for k in engine.rejected if method in OPTIONAL_KEYS[k]}
            given = {key: value for key, value in params.items() if key not in dropped}
            answer = yield CallEngine(engine.engine_id, method, given)
            if not isinstance(answer, EngineFailure):
                return answer
            unknown = {
                key
                for key, methods in OPTIONAL_KEYS.items()
                if key in given and method in methods and _rejects(answer, key)
            }
            if not unknown:
                return answer
            engine.rejected |= unknown

    def _quarantine(self, engine_id: str, operation: str, reason: str) -> None:
        owner = self.owners.get(engine_id)
        self.quarantines.setdefault(engine_id, Quarantine(engine_id, operation, reason, owner))


def _rejects(failure: EngineFailure, key: str) -> bool:
    if key in failure.rejected_keys:
        return True
    quoted = re.search(rf"[\"'`]{key}[\"'`]", failure.message) is not None
    return quoted and _UNKNOWN_KEY.search(failure.message) is not None
