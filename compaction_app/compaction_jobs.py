"""The compaction of a session by a worker: asked for, made, and written once.

Everything slow happens without a lock; agents go on appending meanwhile. At the end one transaction
writes the entry, the record, the counters and the decisions, after it has made sure that the job is
still this worker's and that the cycle is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from compaction_app.chosen import Chosen, choose
from compaction_app.compaction_asks import MANUAL, TRIGGERS, Asked, asked
from compaction_app.compaction_writing import Made, write_compaction, write_failure
from compaction_app.copies import own_or_copy
from compaction_app.engine.compaction.answers import recorded
from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.run import CompactionRun, run_compaction
from compaction_app.engine.compaction_mode import compaction_timeout_ms
from compaction_app.engine.decision import Decision
from compaction_app.flush_jobs import flush_before_compaction
from compaction_app.models import CompactionRecord
from compaction_app.step_log import StepLog, TookTooLong
from compaction_app.summarising import Progress, Summarising, recorded_providers
from sessions_app import events, jobs
from sessions_app.models import Job, Session
from sessions_app.rows import storable
from sessions_app.working import CannotDo, Hold
from sessions_app.workspace import files_of

KIND: Final = "compaction"
TASK: Final = "compaction_app.tasks.compact_session"
MAX_INSTRUCTIONS: Final = 4_000
TIMED_OUT: Final = "Compaction timed out"


def request_compaction(
    session: Session,
    *,
    trigger: str = MANUAL,
    instructions: str = "",
    prompt: Mapping[str, Any] | None = None,
    observed: float | None = None,
) -> Job:
    """A job that compacts the session; the one that waits already, where there is one.

    Args:
        trigger: ``manual``, ``budget`` (before a turn, whose ``prompt`` is handed in) or what a reported
            call has made due.
        instructions: what the summary is to look at, for a manual one.
        observed: tokens of the context as a provider counted them.

    Raises:
        ValueError: for a trigger that there is none of.
    """
    if trigger not in TRIGGERS:
        raise ValueError(f"There is no trigger {trigger!r}; known: {', '.join(TRIGGERS)}.")
    waiting = Job.objects.filter(session=session, kind=KIND, state=Job.State.QUEUED)
    wanted = {
        "trigger": trigger,
        "instructions": storable(instructions, MAX_INSTRUCTIONS),
        "prompt": prompt,
        "observed": observed,
    }
    same = waiting.filter(
        arguments__trigger=trigger, arguments__instructions=wanted["instructions"]
    )
    if (job := same.first()) is not None:
        return job
    return jobs.enqueue(session.team, KIND, f"{session.title}: compact", wanted, session=session)


def compact(hold: Hold) -> Mapping[str, Any]:
    """Do the job; its result says what came of it.

    Raises:
        CannotDo: when the compaction has failed, with its reason.
    """
    job = hold.job
    if job.session is None:
        raise CannotDo("The session is gone.")
    session = own_or_copy(job, job.session, "compacted")
    ask = asked(session, job.arguments)
    if ask.flush_first:
        ask = _after_flush(hold, session, ask)
    timeout = compaction_timeout_ms(ask.live.setup.rules.compaction_mode, ask.live.setup.config)
    log = StepLog(hold, timeout)
    log.step("decided", f"cycle {ask.cycle}: {ask.reason or 'to be compacted'}")
    run, chosen = ask.refusal, None
    answers: list[dict[str, Any]] = []
    if ask.request is not None:
        if ask.live.setup.policy.notify_user:
            events.announce(session, "status", {"text": "🧹 Compacting context..."})
        chosen = _chosen(session, log)
        run = _made(session, ask, chosen, log, answers)
    if run is None:
        return {"compacted": False, "summary": ask.reason, "session": str(session.uuid)}
    name = chosen.summariser.name if chosen else ""
    made = Made(session, ask, run, job, log, name, answers)
    if run.entry is None:
        write_failure(made)
        if run.outcome != "skipped" and not (ask.refusal and run.outcome == "failed"):
            raise CannotDo(log.calls.advised(run.message or run.decision.reason))
        return {"compacted": False, "summary": run.message, "session": str(session.uuid)}
    record = write_compaction(made)
    log.point("committed")
    return {
        "compacted": True,
        "summary": _in_words(record, log),
        "session": str(session.uuid),
        "record": str(record.uuid),
        "entry": record.entry_id,
    }


def _in_words(record: CompactionRecord, log: StepLog) -> str:
    sizes = f"{record.tokens_before or 0:,} to {record.tokens_after or 0:,} tokens (estimate)"
    text = sizes if record.tokens_after is not None else "compacted"
    failed = log.calls.failed()
    return f"{text}; {failed} of {len(log.calls.rows)} model calls failed" if failed else text


def _after_flush(hold: Hold, session: Session, ask: Asked) -> Asked:
    """Let the flush that goes first run, within its own time; the compaction follows whatever it made."""
    flush_before_compaction(hold, session, ask)
    return asked(session, hold.job.arguments)


def _chosen(session: Session, log: StepLog) -> Chosen:
    assert session.agent is not None  # a live session is begun by an agent
    chosen = choose(session.team, session.agent.compaction_summariser, log.stopped, log.calls.asked)
    if chosen.problem:
        log.warn(chosen.problem)
    return chosen


def _made(
    session: Session, ask: Asked, chosen: Chosen, log: StepLog, answers: list[dict[str, Any]]
) -> CompactionRun:
    """The compaction with everything but its writing; one that took too long has failed.

    ``answers`` gets what it was told.
    """
    request = ask.request
    assert session.agent is not None
    assert request is not None
    rules = ask.live.setup.rules
    summarising = Summarising(chosen.summariser, log)
    means = Means(
        summarise=summarising.one,
        at_once=summarising.at_once,
        files=files_of(session.agent),
        wait=log.wait,
        providers=recorded_providers(chosen, request.order.settings.reserve_tokens, log),
        before=Progress(log),
        credentials=chosen.credentials,
    )
    try:
        run = drive(recorded(run_compaction(request.path, request.order, rules), answers), means)
        log.check()
    except TookTooLong:
        log.warn(f"{TIMED_OUT}: nothing was written")
        decision = Decision("compaction", False, "failed", "timed_out", rules.id)
        return CompactionRun("failed", decision, TIMED_OUT)
    verdict = run.message or run.decision.reason
    log.step("summarised", f"{run.outcome}: {verdict}")
    return run
