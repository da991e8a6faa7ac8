"""The memory flush of a session by a worker: asked for, carried out, and its notes written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from compaction_app import memory_mirror
from compaction_app.chosen import choose, connection_of
from compaction_app.compaction_asks import MANUAL, Asked
from compaction_app.copies import own_or_copy
from compaction_app.engine.compaction_mode import compaction_timeout_ms
from compaction_app.engine.flush_run import error_text
from compaction_app.engine.reasons import sentence
from compaction_app.flush_asks import FlushAsked, asked_flush
from compaction_app.flush_dialogue import (
    MAX_NOTE_CHARS,
    Dialogue,
    FlushFailed,
    converse,
    spoken,
    summarised,
)
from compaction_app.flush_writing import Flushed, write_flush
from compaction_app.memory import text_of
from compaction_app.models import FlushRecord, MemoryFile
from compaction_app.sealed import Unreadable
from compaction_app.step_log import StepLog, TookTooLong
from sessions_app import jobs
from sessions_app.models import Agent, Job, Session
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_context import llm_messages
from sessions_app.transcripts.timestamps import iso_text
from sessions_app.working import CannotDo, Hold
from sessions_app.workspace import files_of

KIND: Final = "flush"
TASK: Final = "compaction_app.tasks.flush_session"
DUE: Final = "due"
BY_AGENT: Final = "the agent"
TIMED_OUT: Final = "The memory flush took too long"


def request_flush(
    session: Session, *, trigger: str = MANUAL, prompt: Mapping[str, Any] | None = None
) -> Job:
    """A job that flushes the session's memories; the one that waits already, where there is one.

    Args:
        trigger: ``manual``, or ``due`` before a turn whose ``prompt`` is handed in.
    """
    waiting = Job.objects.filter(session=session, kind=KIND, state=Job.State.QUEUED)
    if (job := waiting.filter(arguments__trigger=trigger).first()) is not None:
        return job
    arguments = {"trigger": trigger, "prompt": prompt}
    return jobs.enqueue(
        session.team, KIND, f"{session.title}: flush memories", arguments, session=session
    )


def request_agent_notes(session: Session, notes: Sequence[str], reply: str) -> Job:
    """A job that stores what an agent wrote in a flush turn of its own."""
    written = {"notes": [note[:MAX_NOTE_CHARS] for note in notes], "reply": reply}
    arguments = {"trigger": MANUAL, "prompt": None, "written": written}
    return jobs.enqueue(
        session.team, KIND, f"{session.title}: store notes", arguments, session=session
    )


def flush(hold: Hold) -> Mapping[str, Any]:
    """Do the job; its result says what came of it.

    Raises:
        CannotDo: when the flush has failed, with its reason.
    """
    job = hold.job
    if job.session is None:
        raise CannotDo("The session is gone.")
    session = own_or_copy(job, job.session, "flushed")
    record = _flush(hold, session, str(job.arguments.get("trigger", MANUAL)))
    return {
        "summary": _summary(record),
        "session": str(session.uuid),
        "record": str(record.uuid),
        "notes": record.notes,
    }


def flush_before_compaction(hold: Hold, session: Session, ask: Asked) -> None:
    """The flush that goes before a compaction. It has its own time; what it cannot do is noted, and
    the compaction goes on."""
    if session.agent is not None and session.agent.flush_by == Agent.FlushBy.AGENT:
        raise CannotDo("A memory flush goes first, and the agent carries it out itself.")
    try:
        record = _flush(hold, session, DUE)
    except CannotDo as error:
        hold.note(f"the flush before the compaction failed: {error}", "warning")
    else:
        hold.note(f"the flush before the compaction: {_summary(record)}")


def _flush(hold: Hold, session: Session, trigger: str) -> FlushRecord:
    ask = asked_flush(session, trigger, hold.job.arguments.get("prompt"))
    setup = ask.live.setup
    log = StepLog(hold, compaction_timeout_ms(setup.rules.compaction_mode, setup.config))
    log.step("decided", f"cycle {ask.cycle}: {sentence(ask.reason)}")
    base = Flushed(session, ask, hold.job, log, trigger, "skipped", ask.reason)
    if ask.context is None or ask.plan is None:
        record = write_flush(base)
        memory_mirror.mirror(
            session.agent, hold.note
        )  # what one that died right behind its end left
        return record
    try:
        made = _carried_out(base)
    except (FlushFailed, TookTooLong, Unreadable) as error:
        message = str(error) or TIMED_OUT
        write_flush(replace(base, outcome="failed", reason="flush_failed"), message)
        raise CannotDo(log.calls.advised(error_text(message))) from error
    log.step("carried out", f"{len(made.done.notes)} notes")
    record = write_flush(made)
    if record.in_transcript is False:
        hold.note(
            "the agent was in the middle of a turn: the silent turn stands only in the flush's record"
        )
    log.point("committed")
    memory_mirror.mirror(session.agent, hold.note)
    return record


def _carried_out(base: Flushed) -> Flushed:
    """The turn itself, on the model of the plan, else on the agent's, else by a summariser."""
    session, ask, log = base.session, base.ask, base.log
    written = base.job.arguments.get("written")
    if written is not None:
        return _with(base, _written(written, ask), BY_AGENT)
    agent, plan, context, texts = session.agent, ask.plan, ask.context, ask.texts
    assert agent is not None and plan is not None and context is not None and texts is not None
    connection = None
    for name in filter(None, (plan.model, agent.flush_summariser)):
        connection = connection or connection_of(session.team, name)
    messages = llm_messages(context.messages)
    if connection is None:
        chosen = choose(session.team, agent.flush_summariser, log.stopped, log.calls.asked)
        if chosen.problem:
            log.warn(chosen.problem)
        heading = f"## {iso_text(_now_ms(base))[:16].replace('T', ' ')} UTC · {session.title}"
        done = summarised(chosen.summariser, messages[:-1], heading, log)
        return _with(base, done, chosen.summariser.name)
    row, model = connection
    rules = ask.live.setup.rules.silent_reply
    done = converse(
        model, messages, ask.system_prompt, plan.relative_path, _Files(agent), rules, log,
        takes_tools=row.takes_tools,
    )  # fmt: skip
    return _with(base, done, row.name)


def _written(written: Mapping[str, Any], ask: FlushAsked) -> Dialogue:
    """An agent's own notes; an answer without a note is one, unless it is for nobody."""
    said = spoken(str(written.get("reply", "")), ask.live.setup.rules.silent_reply)
    notes = [note for note in written.get("notes", []) if not js.is_blank(note)]
    if notes or not said:
        return Dialogue(notes=notes, reply=said)
    return Dialogue(notes=[said[:MAX_NOTE_CHARS]])


def _with(base: Flushed, done: Dialogue, summariser: str) -> Flushed:
    outcome = FlushRecord.WRITTEN if done.notes else FlushRecord.SILENT
    return replace(base, outcome=outcome, done=done, summariser=summariser)


class _Files:
    """Reads the agent's memory and workspace by name."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def __call__(self, name: str) -> str | None:
        file = MemoryFile.objects.filter(agent=self._agent, name=name).first()
        return text_of(file) if file is not None else files_of(self._agent).get(name)


def _summary(record: FlushRecord) -> str:
    if record.outcome == FlushRecord.WRITTEN:
        notes = "1 note" if record.notes == 1 else f"{record.notes} notes"
        return f"{notes} appended to {record.file}"
    if record.outcome == FlushRecord.SILENT:
        return "nothing was worth a note"
    return f"skipped: {sentence(record.reason)}"


def _now_ms(made: Flushed) -> int:
    return int(made.log.started_at.timestamp() * 1000)
