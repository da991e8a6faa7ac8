"""The session guard of a live session: what every message becomes before it is stored, at no cost that
grows with the session (hard pruning, pairing), and what a run's usage leaves in the totals.

A run begins with a user's message and ends with an answer that calls no tool; its usages are summed
up for the totals, which are written when it ends (spec budgets 7.2, runs 3.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction_app.engine.pruning.change import Change
from compaction_app.engine.pruning.persist import (
    PersistOptions,
    PersistState,
    is_transcript_only,
    persist_message,
)
from compaction_app.engine.pruning.tool_calls import tool_calls
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.run_memory import begun, ended, memory_of, with_memory
from sessions_app.importers.marks import turn_mark
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.index_updates import RunReport, persist_usage
from sessions_app.transcripts.usage import Usage, accumulate_usage
from sessions_app.writing import BeforeWrite, JsonObject, LiveState, Verdict

FAILED = ("error", "aborted")


def guard_of(setup: RunSetup) -> BeforeWrite:
    """The guard of a session that runs under ``setup``."""
    options = PersistOptions(
        max_chars=setup.stored_cap_chars,
        logging=_logging(setup.config),
        allow_synthetic_results=True,
    )

    def before_write(
        message: JsonObject, state: LiveState, now_ms: int
    ) -> tuple[Verdict, LiveState]:
        rules = setup.rules.pruning.persist
        done = persist_message(message, read_guard(state.guard), options, rules, now_ms)
        verdict = Verdict(
            items=done.messages,
            own=len(done.messages) - 1 if done.stored else None,
            reason=done.reason,
            changes=tuple(map(_change, done.changes)),
        )
        state = replace(state, guard=written_guard(done.state))
        if done.stored:
            state = _counted(setup, done.messages[-1], state, now_ms)
        return verdict, state

    return before_write


def read_guard(stored: Mapping[str, Any]) -> PersistState:
    """The guard's memory as it was stored."""
    pending = stored.get("pending") or []
    return PersistState(dict(pending), bool(stored.get("skipNextUser")))


def written_guard(state: PersistState) -> dict[str, Any]:
    """The guard's memory to be stored; calls stay in their order."""
    kept: dict[str, Any] = {"pending": [[c, n] for c, n in state.pending.items()]}
    return {**kept, "skipNextUser": True} if state.skip_next_user else kept


def ends_run(message: Mapping[str, Any]) -> bool:
    """Whether an assistant's message is the answer that a run ends with."""
    stopped = message.get("stopReason") in FAILED
    return message.get("role") == "assistant" and not stopped and not tool_calls(message)


def _counted(
    setup: RunSetup, message: Mapping[str, Any], state: LiveState, now_ms: int
) -> LiveState:
    """What the message means to the run that is going on, and to the totals when it ends it."""
    role, memory = message.get("role"), memory_of(state)
    if role == "user":
        return begun(state, flush=turn_mark(message) == "flush")
    if role != "assistant" or is_transcript_only(message):
        return state
    if memory.is_flush:
        return with_memory(state, replace(memory, is_flush=not ends_run(message)))
    usage = message.get("usage")
    memory = replace(memory, usages=(*memory.usages, usage), retries=False, timed_out=None)
    if not ends_run(message):
        return with_memory(state, memory)
    usages = memory.spent(setup.rules).usages
    if "usage" in setup.order.closing:
        report = _report(setup, usages)
        index = persist_usage(state.index, report, now_ms, setup.rules.session_index)
        state = replace(state, index=index)
    return with_memory(state, ended(memory))


def _report(setup: RunSetup, usages: Sequence[Usage]) -> RunReport:
    return RunReport(
        usage=accumulate_usage(usages).total,
        last_call=usages[-1],
        model=setup.around.model or None,
        provider=setup.around.provider or None,
        context_tokens=setup.lines.window,
    )


def _change(change: Change) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "reason": change.reason,
        "beforeChars": change.before_chars,
        "afterChars": change.after_chars,
    }


def _logging(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    logging = config.get("logging")
    return logging if isinstance(logging, Mapping) and js.is_truthy(logging) else None
