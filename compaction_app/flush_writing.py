"""Writing a memory flush: the silent turn, the notes, the record and the counters, or nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.db import transaction

from compaction_app import webhooks
from compaction_app.compaction_asks import MANUAL
from compaction_app.engine.silent_reply import SILENT_TOKEN
from compaction_app.flush_asks import FlushAsked
from compaction_app.flush_dialogue import Dialogue
from compaction_app.live_steps import record_step, stages_made
from compaction_app.memory import FlushOrigin, append_notes
from compaction_app.models import FlushRecord, LiveStep
from compaction_app.record_chain import link_record
from compaction_app.run_memory import memory_of, with_failure
from compaction_app.session_guard import guard_of
from compaction_app.step_log import StepLog
from sessions_app import store
from sessions_app.models import Job, Session, Window
from sessions_app.rows import storable, storable_json
from sessions_app.transcripts.session_index import record_flush, was_flushed_in_cycle
from sessions_app.working import CannotDo
from sessions_app.writer import Writer

NOBODY: Final = "contextlab"


@dataclass(frozen=True, slots=True)
class Flushed:
    """A flush that was carried out, skipped or failed, and all that is known around it."""

    session: Session
    ask: FlushAsked
    job: Job
    log: StepLog
    trigger: str
    outcome: str
    reason: str
    done: Dialogue = field(default_factory=Dialogue)
    summariser: str = ""


def write_flush(made: Flushed, message: str = "") -> FlushRecord:
    """Notes, record, counters and decisions in one transaction.

    Raises:
        Stopped: when the job is not this worker's any more, or was cancelled.
        CannotDo: when somebody else has flushed in this cycle.
    """
    ask, carried_out = made.ask, made.outcome in (FlushRecord.WRITTEN, FlushRecord.SILENT)
    in_transcript: bool | None = None
    with transaction.atomic():
        made.log.hold.sure()
        made.log.point("sure")
        with store.writing(made.session) as writer:
            if carried_out and was_flushed_in_cycle(writer.state.index):
                raise CannotDo("Somebody else has flushed in this cycle; nothing was written.")
            if carried_out:
                in_transcript = _keep_turn(made, writer)
                made.log.point("turn")
                _keep_notes(made)
                made.log.point("notes")
                index = record_flush(writer.state.index, writer.now_ms, ask.cycle)
                writer.state = replace(writer.state, index=index)
            elif made.outcome == "failed" and made.trigger != MANUAL:
                writer.state = with_failure(writer.state, "flush", ask.head, message)
            record = _record(made, writer.window, message)
            record.in_transcript = in_transcript
            link_record(record, writer.window)
            record.save()
            made.log.point("record")
            _keep_decisions(made, writer.window)
            webhooks.tell(writer, "flush", _told(made, record))
        made.log.point("written")
    return record


def _keep_turn(made: Flushed, writer: Writer) -> bool | None:
    """The silent turn in the transcript, as a version keeps it; whether it is there now.

    It stands between two turns, behind all that came in while the model was asked. In the middle of a turn
    it would part a prompt from its answer, or a call from its result: then only the record has it.
    """
    ask = made.ask
    if ask.texts is None:
        return None
    memory = memory_of(writer.state)
    if memory.is_open or memory.is_flush:
        return False
    prompt = {"role": "user", "content": [{"type": "text", "text": ask.texts.user_text}]}
    said: Sequence[dict[str, Any]] = made.done.messages or [_nothing_said(made)]
    writer.append([prompt, *said], guard_of(ask.live.setup))
    return True


def _nothing_said(made: Flushed) -> dict[str, Any]:
    """The answer of a flush that no model carried out; it says nothing and was billed nothing."""
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": SILENT_TOKEN}],
        "provider": NOBODY,
        "model": made.summariser,
        "usage": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0),
        "stopReason": "stop",
    }


def _keep_notes(made: Flushed) -> None:
    agent, plan = made.session.agent, made.ask.plan
    assert agent is not None and plan is not None
    if made.done.notes:
        origin = FlushOrigin(made.session, made.ask.cycle, made.ask.turn)
        append_notes(agent, plan.relative_path, made.done.notes, origin)


def _record(made: Flushed, window: Window, message: str) -> FlushRecord:
    ask, done = made.ask, made.done
    return FlushRecord(
        team_id=made.session.team_id,
        session=made.session,
        window=window,
        job=made.job,
        cycle=ask.cycle,
        trigger=made.trigger,
        outcome=made.outcome,
        reason=made.reason[:80],
        message=storable(made.log.calls.advised(message) if message else "", 2_000),
        rule_set=ask.live.setup.rules.id,
        summariser=made.summariser,
        calls=made.log.calls.stored(),
        cost=made.log.calls.cost(),
        started_at=made.log.started_at,
        file=ask.plan.relative_path if ask.plan and done.notes else "",
        notes=len(done.notes),
        reply=storable(done.reply, len(done.reply)),
        dialogue=storable_json(done.messages),
    )


def _keep_decisions(made: Flushed, window: Window) -> None:
    ask = made.ask
    if ask.basis is not None:
        asked = {} if ask.prompt is None else {"prompt": {"message": ask.prompt}}
        stages = stages_made(ask.turn, ask.stages)
        record_step(window, ask.live.setup, stages, LiveStep.Kind.FLUSH, ask.basis, asked)


def _told(made: Flushed, record: FlushRecord) -> dict[str, Any]:
    return {
        "record": str(record.uuid),
        "job": str(made.job.uuid),
        "outcome": record.outcome,
        "reason": record.reason,
        "trigger": record.trigger,
        "file": record.file or None,
        "notes": record.notes,
        "reply": record.reply or None,
        "cycle": record.cycle,
    }
