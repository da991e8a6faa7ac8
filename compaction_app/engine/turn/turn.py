"""One turn on real messages, from the user's text to what the store holds afterwards.

A generator: it yields what it needs (the model's answer to a call with its exact context, a finished
summary or the calls to make one, the time) and is sent the answers; see ``requests``. It returns the
session as it is then, with a decision for every stage of the turn's order, fired or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from compaction_app.engine.compaction.run import CompactionRun
from compaction_app.engine.recovery_limits import RecoveryCounters
from compaction_app.engine.turn.closing import close_run, count_compactions
from compaction_app.engine.turn.compacting import CompactionAsk, compact
from compaction_app.engine.turn.gates import flush, preflight
from compaction_app.engine.turn.record import TurnResult
from compaction_app.engine.turn.reply import gateway_answers
from compaction_app.engine.turn.requests import Moment, Steps
from compaction_app.engine.turn.run import ModelRun, carry_out
from compaction_app.engine.turn.runtime_event import compacted_event, compacted_text, with_event
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.state import SessionState
from compaction_app.engine.turn.work import TurnPrompt, TurnWork
from sessions_app.transcripts.session_index import total_tokens

_STAGES: Final[Mapping[str, Callable[[TurnWork], Steps[str | None]]]] = {
    "preflight": preflight,
    "flush": flush,
}
COMMAND_MARK: Final = "⚙️"


def run_turn(setup: RunSetup, state: SessionState, prompt: TurnPrompt) -> Steps[TurnResult]:
    """Answer what a user sent."""
    return (yield from turn_of(TurnWork(setup, state, prompt)))


def turn_of(work: TurnWork, counters: RecoveryCounters | None = None) -> Steps[TurnResult]:
    """The turn that ``work`` is at the beginning of; whoever holds it can look at it on the way.

    ``counters``: what was spent on this prompt before.
    """
    setup, prompt = work.setup, work.prompt
    work.state = replace(work.state, queued=())
    for stage in setup.order.turn:
        reply = yield from _STAGES[stage](work)
        if reply is not None:
            yield from gateway_answers(work, reply, stored=False)
            blocked = stage == "flush"
            return work.finished("blocked" if blocked else "failed", reply)
    run = ModelRun(work, "turn", prompt.message, prompt.sent, setup.system.chars)
    run.counters = counters or RecoveryCounters()
    end = yield from carry_out(run)
    if end == "blocked" and run.reply is not None:
        yield from gateway_answers(work, run.reply, stored=run.prompt_stored)
    if end == "answered":
        yield from close_run(run)
        work.has_replied = True
        judged = not (run.compactions and setup.rules.turn.usage_is_final)
        for stage in setup.order.replied if judged else ():
            yield from _STAGES[stage](work)
    return work.finished(end, run.reply)


def run_manual_compaction(
    setup: RunSetup, state: SessionState, prompt: TurnPrompt, instructions: str | None
) -> Steps[TurnResult]:
    """Carry out a typed ``/compact``, which is stored as a user's message first (runs 3.4)."""
    work = TurnWork(setup, state, prompt)
    follows = setup.rules.turn.command_follows
    if not follows:
        yield from work.append_prompt()
    made = yield from compact(work, CompactionAsk("manual", instructions=instructions))
    done = made.outcome == "compacted"
    reason = made.outcome if made.message is None else made.message
    work.fired("manual_compaction", work.total_before, None, reason, made.decision)
    if done:
        yield from count_compactions(work, 1, made.tokens_after)
        yield from _announce(work, made)
    if follows:
        yield from gateway_answers(work, _command_answer(work, made), stored=False)
    return work.finished("compacted" if done else "refused", made.message)


def _command_answer(work: TurnWork, made: CompactionRun) -> str:
    if made.outcome != "compacted":
        return f"{COMMAND_MARK} Compaction skipped: {made.message or made.outcome}"
    held = total_tokens(work.state.index)
    sizes = (made.tokens_before or 0, made.tokens_after, held, work.setup.lines.window)
    return f"{COMMAND_MARK} {compacted_text(*sizes, work.rules.turn.events)}"


def _announce(work: TurnWork, made: CompactionRun) -> Steps[None]:
    """The next prompt will tell the model what happened."""
    now = yield Moment("entry")
    event = compacted_event(
        made.tokens_before or 0,
        made.tokens_after,
        total_tokens(work.state.index),
        work.setup.lines.window,
        now,
        work.rules.turn.events,
    )
    work.state = replace(work.state, queued=with_event(work.state.queued, event))
