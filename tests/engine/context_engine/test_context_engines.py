"""Context engines: registry, quarantine, lifecycle (spec compaction 6)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.context_engine.contract import (
    CLI_CAPABILITIES,
    EngineFailure,
    EngineShape,
    contract_violation,
    missing_capabilities,
)
from compaction_app.engine.context_engine.lifecycle import (
    HostCall,
    Maintenance,
    TurnEnd,
    assemble,
    bootstrap,
    finish_turn,
)
from compaction_app.engine.context_engine.registry import (
    CallEngine,
    ContextEngines,
    Registration,
    Resolved,
)
from tests.engine.compaction.driving import assistant, user

METHODS = frozenset({"ingest", "assemble", "compact"})
BAD = EngineFailure("Error", "bad")


class Process:
    """A process with the default engine and one of a plugin."""

    def __init__(self, **answers: Any) -> None:
        self.engines = ContextEngines()
        self.engines.register("legacy", "core")
        self.engines.register("own", "plugin:x")
        self.built: Any = EngineShape({"id": "own", "name": "Own"}, METHODS)
        self.answers = answers
        self.calls: list[CallEngine] = []

    def run(self, steps: Any) -> Any:
        answer = None
        try:
            while True:
                answer = self._answer(steps.send(answer))
        except StopIteration as end:
            return end.value

    def _answer(self, request: Any) -> Any:
        if not isinstance(request, CallEngine):
            legacy = EngineShape({"id": "legacy", "name": "Legacy"}, METHODS)
            return legacy if request.engine_id == "legacy" else self.built
        self.calls.append(request)
        answer = self.answers.get(request.method) if request.engine_id == "own" else None
        return answer(request) if callable(answer) else answer or request.engine_id

    def resolve(self, slot: str = "own") -> Resolved:
        found = self.run(self.engines.resolve(slot))
        assert isinstance(found, Resolved)
        return found

    def call(self, engine: Resolved, method: str, **given: Any) -> Any:
        return self.run(self.engines.call(engine, method, {"sessionKey": "k"}, **given))


def test_ids_belong_to_their_owner() -> None:
    engines = Process().engines
    assert engines.register("legacy", "plugin:x") == Registration(False, "core")
    assert engines.register("own", "plugin:y") == Registration(False, "plugin:x")
    assert engines.register("own", "plugin:x") == Registration(False, "plugin:x")
    assert engines.register("own", " plugin:x ", refresh=True).ok
    assert engines.register_public("other").ok
    assert not engines.register_public("other").ok
    with pytest.raises(ValueError, match="non-empty"):
        engines.register("third", " ")


def test_an_unknown_engine_is_replaced_by_the_default_one() -> None:
    process = Process()
    assert process.resolve(" ghost ").engine_id == "legacy"
    assert process.engines.quarantines["ghost"].reason == "not registered"


@pytest.mark.parametrize(
    ("built", "operation"),
    [
        (BAD, "factory"),
        (None, "contract-validation"),
        (EngineShape({}, METHODS), "contract-validation"),
    ],
)
def test_an_engine_that_cannot_be_built_is_quarantined(built: Any, operation: str) -> None:
    process = Process()
    process.built = built
    assert process.resolve().engine_id == "legacy"
    assert process.engines.quarantines["own"].operation == operation


def test_a_process_without_the_default_engine_cannot_start() -> None:
    with pytest.raises(LookupError, match="Available engines: \\(none\\)"):
        Process().run(ContextEngines().resolve(None))


def test_a_failing_method_is_answered_by_the_default_engine_from_then_on() -> None:
    process = Process(assemble=BAD)
    own = process.resolve()
    assert process.call(own, "ingest") == "own"
    assert process.call(own, "assemble") == "legacy"
    assert process.call(own, "ingest") == "legacy"
    assert process.engines.info_id(own) == "legacy"
    assert process.call(own, "maintain")["reason"] == "context engine downgraded to legacy"


def test_a_failing_compaction_reaches_the_caller_once() -> None:
    process = Process(compact=BAD)
    own = process.resolve()
    assert process.call(own, "compact") == BAD
    assert process.call(own, "compact") == "legacy"


def test_an_abort_that_was_asked_for_is_no_fault_of_the_engine() -> None:
    abort = EngineFailure("AbortError", "stopped", signal_aborted=True)
    process = Process(assemble=abort)
    own = process.resolve()
    assert process.call(own, "assemble") == abort
    assert process.call(own, "ingest", aborted=True).name == "AbortError"
    assert process.engines.quarantines == {}


def test_a_parameter_an_older_engine_rejects_is_left_out_from_then_on() -> None:
    def strict(request: CallEngine) -> Any:
        unknown = EngineFailure("Error", "Unrecognized key(s) in object: 'sessionKey'")
        return unknown if "sessionKey" in request.params else "fine"

    process = Process(ingest=strict)
    own = process.resolve()
    assert [process.call(own, "ingest") for _ in range(2)] == ["fine", "fine"]
    assert ["sessionKey" in call.params for call in process.calls] == [True, False, False]


def test_a_new_registration_ends_the_quarantine() -> None:
    process = Process()
    process.built = BAD
    process.resolve()
    process.engines.register("own", "plugin:x", refresh=True)
    process.built = EngineShape({"id": "own", "name": "Own"}, METHODS)
    assert process.resolve().plugin_id == "x"
    process.engines.clear_owner("plugin:x")
    assert list(process.engines.owners) == ["legacy"]


def test_the_contract_names_everything_that_is_missing() -> None:
    message = contract_violation("e", EngineShape({"id": " "}, frozenset({"assemble"})))
    assert message is not None
    assert message.endswith(
        "missing info.id, missing info.name, missing ingest(), missing compact()."
    )


def test_a_host_must_offer_what_the_engine_requires() -> None:
    needs = {"hostRequirements": {"run": {"requiredCapabilities": ["compact", "bootstrap"]}}}
    assert missing_capabilities(needs, "run", CLI_CAPABILITIES) == ("compact",)
    assert missing_capabilities({}, "run", ()) == ()


CONTEXT = {"role": "custom", "customType": "openclaw.runtime-context", "content": "z"}
TURN = [user("old"), CONTEXT, assistant("old"), user("new"), assistant("new")]


def drive(steps: Any, failing: str = "") -> tuple[list[Any], Any]:
    seen: list[Any] = []
    answer = None
    try:
        while True:
            seen.append(steps.send(answer))
            method = getattr(seen[-1], "method", None)
            answer = BAD if method == failing else {"messages": [], "systemPromptAddition": "more"}
    except StopIteration as end:
        return seen, end.value


@pytest.mark.parametrize(
    ("methods", "called"),
    [
        ({"afterTurn", "ingestBatch"}, ["afterTurn", "turn"]),
        ({"ingestBatch", "ingest"}, ["ingestBatch", "turn"]),
        ({"ingest"}, ["ingest", "ingest", "turn"]),
    ],
)
def test_a_turn_is_handed_over_whole_or_by_its_new_messages(
    methods: set[str], called: list[str]
) -> None:
    seen, found = drive(finish_turn(methods, TurnEnd(TURN, 3)))
    assert [getattr(s, "method", None) or s.reason for s in seen] == called
    assert found.succeeded
    if "afterTurn" in methods:
        assert seen[0].params["prePromptMessageCount"] == 2


def test_a_failed_or_disturbed_turn_is_not_tidied_up() -> None:
    _, found = drive(finish_turn({"afterTurn"}, TurnEnd(TURN, 3)), "afterTurn")
    assert (found.succeeded, found.warnings) == (
        False,
        ("context engine afterTurn failed: Error: bad",),
    )
    seen, found = drive(finish_turn({"afterTurn"}, TurnEnd(TURN, 3, aborted=True)))
    assert found.succeeded and Maintenance("turn") not in seen


def test_a_turn_without_new_messages_calls_nothing() -> None:
    assert drive(finish_turn({"ingestBatch"}, TurnEnd(TURN, 5)))[0] == [Maintenance("turn")]


def test_an_existing_session_is_bootstrapped_once() -> None:
    assert drive(bootstrap({"bootstrap"}, had_session_file=False))[0] == []
    seen, _ = drive(bootstrap({"bootstrap"}, had_session_file=True))
    assert seen == [HostCall("bootstrap", {}), Maintenance("bootstrap")]


def test_the_engine_s_messages_replace_those_it_was_given_unless_it_fails() -> None:
    seen, found = drive(assemble(TURN, "hi"))
    assert CONTEXT not in seen[0].params["messages"]
    assert (found.messages, found.addition) == ([], "more")
    _, failed = drive(assemble(TURN, "hi"), "assemble")
    assert (failed.messages, len(failed.warnings)) == (TURN, 1)
