"""One turn of a replay: the stages of the rule set's order on a tape (the counterpart of ``turn.turn``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from compaction_app.engine.tape.compacting import Compacted, compact
from compaction_app.engine.tape.gate_constants import GateConstants
from compaction_app.engine.tape.gates import (
    count_compactions,
    flush,
    preflight,
)
from compaction_app.engine.tape.recorded import TurnRows
from compaction_app.engine.tape.run import ReplayRun, carry_out
from compaction_app.engine.tape.work import ReplayedTurn, SessionReplay, TurnRecord
from compaction_app.engine.turn.compacting import CompactionAsk
from compaction_app.engine.turn.reply import gateway_reply
from compaction_app.engine.turn.runtime_event import compacted_event, with_event
from sessions_app.transcripts.index_updates import RunReport, persist_usage
from sessions_app.transcripts.session_index import total_tokens
from sessions_app.transcripts.usage import Usage, accumulate_usage, prompt_tokens

_BEFORE_RUN: Final[Mapping[str, Callable[[TurnRecord, GateConstants], str | None]]] = {
    "preflight": preflight,
    "flush": flush,
}


def replay_turn(session: SessionReplay, turn: TurnRows, constants: GateConstants) -> ReplayedTurn:
    """The next turn of the session."""
    session.begin(turn)
    record = TurnRecord(session, turn)
    if turn.turn.kind == "compact":
        return _compact_by_hand(record)
    session.queued = ()
    for stage in record.setup.order.turn:
        reply = _BEFORE_RUN[stage](record, constants)
        if reply is not None:
            _reply(record, reply, stored=False)
            return record.finished("blocked" if stage == "flush" else "failed", reply)
    run = ReplayRun(record, "turn", turn.sent, turn.prompt.sent, record.setup.system.chars)
    end = carry_out(run)
    if end == "blocked" and run.reply is not None:
        _reply(record, run.reply, stored=run.prompt_stored)
    if end == "answered":
        for closing in record.setup.order.closing:
            _CLOSING[closing](run)
    return record.finished(end, run.reply)


def _compact_by_hand(record: TurnRecord) -> ReplayedTurn:
    """A typed ``/compact``, which is stored as a user's message first (runs 3.4)."""
    record.append_prompt()
    ask = CompactionAsk("manual", instructions=record.turn.turn.instructions)
    made = compact(record, ask)
    done = made.outcome == "compacted"
    reason = made.outcome if made.message is None else made.message
    record.fired("manual_compaction", record.total_before, None, reason, made.decision)
    if done:
        count_compactions(record, 1, made.tokens_after)
        _announce(record, made)
    return record.finished("compacted" if done else "refused", made.message)


def _announce(record: TurnRecord, made: Compacted) -> None:
    """The next prompt will tell the model what happened."""
    session = record.session
    event = compacted_event(
        made.tokens_before or 0,
        made.tokens_after,
        total_tokens(session.index),
        record.setup.lines.window,
        session.clock_ms,
    )
    session.queued = with_event(session.queued, event)


def _reply(record: TurnRecord, text: str, *, stored: bool) -> None:
    """The gateway's own answer, stored as an assistant's message without usage (runs 2, 3.10)."""
    session = record.session
    if record.setup.around.path != "chat":
        return
    if not stored:
        record.append_prompt()
    run_id = record.turn.prompt.run_id
    entry = gateway_reply(text, run_id, session.new_id(), None, session.clock_ms)
    session.append(session.maker.row(entry))


def _usage(run: ReplayRun) -> None:
    setup, session = run.record.setup, run.record.session
    last = Usage() if run.incomplete else run.usages[-1] if run.usages else None
    report = RunReport(
        usage=None if run.incomplete else accumulate_usage(run.usages).total,
        last_call=last,
        model=setup.around.model or None,
        provider=setup.around.provider or None,
        context_tokens=setup.lines.window,
    )
    rules = run.record.rules.session_index
    session.index = persist_usage(session.index, report, session.clock_ms, rules)


def _count(run: ReplayRun) -> None:
    if run.compactions:
        last = prompt_tokens(run.usages[-1]) if run.usages else None
        after = run.tokens_after if run.tokens_after is not None else last
        count_compactions(run.record, run.compactions, after)


_CLOSING: Final[Mapping[str, Callable[[ReplayRun], Any]]] = {
    "usage": _usage,
    "compaction_count": _count,
}
