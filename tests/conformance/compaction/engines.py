"""Context engines, played by fakes (spec compaction 6 and appendix B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction_app.engine.context_engine import contract, lifecycle, registry
from compaction_app.engine.context_engine.contract import EngineFailure, EngineShape
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]
METHODS = ("ingest", "assemble", "compact")
ABORT = "AbortError"
SESSION_KEYS: Mapping[str, tuple[str, ...]] = {
    "afterTurn": ("sessionFile", "sessionId", "sessionKey", "tokenBudget"),
    "ingestBatch": ("sessionId", "sessionKey"),
    "ingest": ("sessionId", "sessionKey"),
    "bootstrap": ("sessionFile", "sessionId", "sessionKey"),
    "assemble": ("model", "sessionId", "sessionKey", "tokenBudget"),
}


class Scenario:
    """A process with its engines: what is done to it, step by step."""

    def __init__(self) -> None:
        self.engines = registry.ContextEngines()
        self.specs: dict[str, Args] = {}
        self.resolved: registry.Resolved | None = None
        self.trace: list[str] = []

    def step(self, step: Args) -> Any:
        try:
            return getattr(self, f"_{step['do']}")(step)
        except (ValueError, LookupError, RuntimeError) as error:
            return {"error": str(error.args[0]), "name": "Error"}

    def _run(self, steps: Any) -> Any:
        try:
            request = next(steps)
            while True:
                request = steps.send(self._answer(request))
        except StopIteration as end:
            return end.value

    def _answer(self, request: Any) -> Any:
        spec = self.specs[request.engine_id]
        engine = spec.get("engine") or {}
        if isinstance(request, registry.CallEngine):
            return self._called(request, spec, engine)
        if "factoryThrows" in spec:
            return EngineFailure("Error", spec["factoryThrows"])
        if "raw" in engine:
            raw = engine["raw"]
            return EngineShape(raw.get("info"), frozenset()) if isinstance(raw, dict) else raw
        engine_id = request.engine_id
        info = engine.get("info", {"id": engine_id, "name": engine_id})
        return EngineShape(info, frozenset(engine.get("methods", METHODS)))

    def _called(self, call: registry.CallEngine, spec: Args, engine: Args) -> Any:
        tag = spec.get("tag", call.engine_id)
        self.trace.append(f"{tag}.{call.method}({','.join(call.params)})")
        fault = (engine.get("throws") or {}).get(call.method)
        if fault is None or fault.get("onlyWithKey", call.method) not in (
            call.method,
            *call.params,
        ):
            return f"{tag}:{call.method}"
        name = ABORT if fault.get("kind") == "abort" else "Error"
        keys = (fault["onlyWithKey"],) if fault.get("kind") == "zod" else ()
        return EngineFailure(name, fault["message"], keys)

    def _registered(self, step: Args, found: registry.Registration) -> Any:
        if not found.ok:
            return {"ok": False, "existingOwner": found.existing_owner}
        self.specs[step["id"]] = step
        return {"ok": True}

    def _register(self, step: Args) -> Any:
        refresh = bool((step.get("opts") or {}).get("allowSameOwnerRefresh"))
        return self._registered(
            step, self.engines.register(step["id"], step["owner"], refresh=refresh)
        )

    def _registerPublic(self, step: Args) -> Any:
        return self._registered(step, self.engines.register_public(step["id"]))

    def _resolve(self, step: Args) -> Any:
        self.resolved = self._run(self.engines.resolve(step.get("slot")))
        return {"info": self.engines.info_id(self.resolved), "owner": self.resolved.plugin_id}

    def _call(self, step: Args) -> Any:
        assert self.resolved is not None
        answer = self._run(
            self.engines.call(
                self.resolved, step["method"], step["params"], aborted=bool(step.get("aborted"))
            )
        )
        if isinstance(answer, EngineFailure):
            return {"error": answer.message, "name": answer.name}
        value = {} if answer is None else {"value": answer}
        return {**value, "info": self.engines.info_id(self.resolved)}

    def _quarantines(self, _: Args) -> Any:
        return [
            {
                "engineId": each.engine_id,
                "operation": each.operation,
                "reason": each.reason,
                **({} if each.owner is None else {"owner": each.owner}),
            }
            for each in self.engines.quarantines.values()
        ]

    def _ids(self, _: Args) -> Any:
        return list(self.engines.owners)

    def _clearOwner(self, step: Args) -> Any:
        self.engines.clear_owner(step["owner"])


def _scenario(args: Args, _: RuleSet) -> Any:
    scenario = Scenario()
    out = [scenario.step(step) for step in args["steps"]]
    return {"out": out, "trace": scenario.trace}


def _turn(args: Args, _: RuleSet) -> Any:
    params, methods = args.get("params") or {}, frozenset(args["methods"])
    phase = args.get("phase", "turn")
    if phase == "bootstrap":
        steps: Any = lifecycle.bootstrap(methods, had_session_file=params["hadSessionFile"])
    elif phase == "assemble":
        steps = lifecycle.assemble(params["messages"], params["prompt"])
    else:
        end = lifecycle.TurnEnd(
            params["messagesSnapshot"],
            params["prePromptMessageCount"],
            prompt_failed=bool(params.get("promptError")),
            aborted=bool(params.get("aborted")),
            yield_aborted=bool(params.get("yieldAborted")),
        )
        steps = lifecycle.finish_turn(methods, end)
    trace, found = _drive(steps, args.get("throws") or ())
    result = None
    if phase == "assemble":
        result = len(found.messages)
    elif phase == "turn":
        result = {"postTurnFinalizationSucceeded": found.succeeded}
    return {"result": result, "trace": trace, "warnings": list(found.warnings)}


def _drive(steps: Any, throws: Any) -> tuple[list[Any], Any]:
    trace: list[Any] = []
    answer = None
    try:
        while True:
            request = steps.send(answer)
            answer = None
            if isinstance(request, lifecycle.Maintenance):
                trace.append({"call": "maintenance", "reason": request.reason})
                continue
            given = request.params
            messages = given.get("messages")
            trace.append(
                {
                    "call": request.method,
                    "keys": sorted((*given, *SESSION_KEYS[request.method])),
                    "messages": None if messages is None else len(messages),
                    "prePromptMessageCount": given.get("prePromptMessageCount"),
                }
            )
            if request.method in throws:
                answer = EngineFailure("Error", f"{request.method} broke")
            elif request.method == "assemble":
                answer = {"messages": messages}
    except StopIteration as end:
        return trace, end.value


def _host(args: Args, _: RuleSet) -> Any:
    missing = contract.missing_capabilities(
        args["contextEngineInfo"], args["operation"], args["host"]["capabilities"]
    )
    return {"ok": not missing, "missing": list(missing)}


FUNCTIONS = {
    "contextEngineScenario": _scenario,
    "contextEngineTurn": _turn,
    "contextEngineHostSupport": _host,
}
