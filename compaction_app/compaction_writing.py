"""Writing a finished compaction: all of it in one transaction, or nothing; and one that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from compaction_app import kept_answers, webhooks
from compaction_app.compaction_asks import BEFORE_TURN, MANUAL, Asked, compactions_of
from compaction_app.engine.compaction.cut import is_cut_point
from compaction_app.engine.compaction.post_context import post_compaction_context
from compaction_app.engine.compaction.record import record_of
from compaction_app.engine.compaction.run import CompactionRun
from compaction_app.engine.compaction.workspace_rules import RULES_FILE
from compaction_app.engine.turn.compacting import parts_of
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.runtime_event import compacted_event, with_event
from compaction_app.live_steps import record_step, stages_made
from compaction_app.models import CompactionRecord, LiveStep
from compaction_app.record_chain import link_record
from compaction_app.run_memory import with_failure, with_preflight
from compaction_app.step_log import StepLog
from sessions_app import store
from sessions_app.models import Job, Session, Window
from sessions_app.rows import entries_of_window, storable, storable_json
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.transcripts.index_updates import CompactionUpdate, increment_compaction_count
from sessions_app.transcripts.session_context import context_of_path
from sessions_app.working import CannotDo
from sessions_app.workspace import files_of
from sessions_app.writer import Writer

Record = Mapping[str, Any]
REWRITTEN = "The session went on from another place meanwhile; nothing was written."
SAME_CYCLE = "The session was compacted by somebody else meanwhile; nothing was written."


@dataclass(frozen=True, slots=True)
class Made:
    """A compaction that was made, or came to nothing, and all that is known around it.

    ``answers`` are what it was told, in order (``engine.compaction.answers``).
    """

    session: Session
    ask: Asked
    run: CompactionRun
    job: Job
    log: StepLog
    summariser: str
    answers: list[dict[str, Any]] | None = None

    @property
    def trigger(self) -> str:
        return str(self.job.arguments.get("trigger", MANUAL))


def write_compaction(made: Made) -> CompactionRecord:
    """The entry behind everything that came in meanwhile, the record, the counters, the decisions.

    Raises:
        Stopped: when the job is not this worker's any more, or was cancelled.
        CannotDo: when somebody else has compacted the session in this cycle.
    """
    with transaction.atomic():
        made.log.hold.sure()
        made.log.point("sure")
        with store.writing(made.session) as writer:
            if compactions_of(writer.window) != made.ask.cycle:
                raise CannotDo(SAME_CYCLE)
            came_in = _came_in(writer.window, made.ask)
            entry = _placed(made, came_in, writer.head)
            writer.append_entries([entry])
            made.log.point("entry")
            record = _record(made, writer.window, entry, len(came_in))
            record.step = _keep_decisions(made, writer.window)
            made.log.point("decisions")
            link_record(record, writer.window)
            record.save()
            kept_answers.forget(made.job)
            made.log.point("record")
            _count(made, writer, came_in)
            webhooks.tell(writer, "compaction", _told(made, record))
            if made.ask.live.setup.policy.notify_user:
                writer.event("status", {"text": "🧹 Compaction complete"})
        made.log.point("written")
    return record


def write_failure(made: Made) -> None:
    """Keep what was tried, and tell the turn that waits for it to go on without."""
    with transaction.atomic():
        made.log.hold.sure()
        with store.writing(made.session) as writer:
            record = _record(made, writer.window, None, 0)
            record.step = _keep_decisions(made, writer.window)
            link_record(record, writer.window)
            record.save()
            message = made.run.message or made.run.decision.reason
            if made.trigger != MANUAL:
                writer.state = with_failure(writer.state, "compact", made.ask.head, message)
            webhooks.tell(writer, "compaction", _told(made, record))


def _came_in(window: Window, ask: Asked) -> list[Record]:
    """The entries that were appended while the compaction ran.

    Raises:
        CannotDo: when one of them begins another branch, on which the summary says nothing.
    """
    came_in = [entry.record for entry in entries_of_window(window, ask.entries)]
    before = ask.head
    for record in came_in:
        if record.get("parentId") != before:
            raise CannotDo(REWRITTEN)
        before = record.get("id")
    return came_in


def _placed(made: Made, came_in: list[Record], head: str | None) -> dict[str, Any]:
    """The entry behind the session's head. What came in stays: it can never be cut off.

    A compaction that keeps nothing would drop it, so it keeps from there on; should that begin with
    the result of a tool, from the call on.
    """
    entry = dict(made.run.entry or {})
    entry["parentId"] = head
    if came_in and entry["firstKeptEntryId"] == entry["id"]:
        path = [*(made.ask.request.path if made.ask.request else ()), *came_in]
        at = len(path) - len(came_in)
        while at > 0 and not is_cut_point(path[at]):
            at -= 1
        entry["firstKeptEntryId"] = path[at].get("id")
    return entry


def _count(made: Made, writer: Writer, came_in: list[Record]) -> None:
    """The counters of the session, and what its next prompt tells the model."""
    setup, state, run = made.ask.live.setup, writer.state, made.run
    rules = setup.rules
    after = run.tokens_after
    if after is not None:
        grown = context_of_path(came_in).messages
        after += sum(message_tokens(message, rules.message_tokens) for message in grown)
    if made.trigger in (MANUAL, BEFORE_TURN) or "compaction_count" in setup.order.closing:
        update = CompactionUpdate(amount=1, tokens_after=after)
        index = increment_compaction_count(state.index, update, writer.now_ms, rules.session_index)
        state = replace(state, index=index)
    if made.trigger == BEFORE_TURN:
        state = with_preflight(state)
    queued = state.queued
    if made.trigger == MANUAL:
        total, window = state.index.get("totalTokens"), setup.lines.window
        event = compacted_event(run.tokens_before or 0, after, total, window, writer.now_ms)
        queued = with_event(queued, event)
    writer.state = replace(state, queued=(*queued, *_refresh(made, writer.now_ms)))


def _refresh(made: Made, now_ms: int) -> tuple[str, ...]:
    """The agent's own rules again, where its configuration asks for them after a compaction."""
    agent, setup = made.session.agent, made.ask.live.setup
    rules = setup.rules.compaction
    agents_md = files_of(agent).get(RULES_FILE) if agent is not None else None
    found = post_compaction_context(
        agents_md, setup.config, now_ms, rules.post_context, rules.sections
    )
    return () if found.text is None else (found.text,)


def _record(made: Made, window: Window, entry: Record | None, came_in: int) -> CompactionRecord:
    request, run = made.ask.request, made.run
    whole: dict[str, Any] = {}
    message = run.message or ""
    if run.outcome == "failed":
        message = made.log.calls.advised(message)
    if request is not None:
        whole = record_of(request.path, request.order, run).as_json()
    return CompactionRecord(
        team_id=made.session.team_id,
        session=made.session,
        window=window,
        job=made.job,
        cycle=made.ask.cycle,
        trigger=made.trigger,
        instructions=storable(made.job.arguments.get("instructions"), 5_000),
        outcome=run.outcome,
        reason=run.decision.reason[:80],
        message=storable(message, 2_000),
        rule_set=run.decision.rule_set,
        summariser=made.summariser,
        calls=made.log.calls.stored(),
        cost=made.log.calls.cost(),
        started_at=made.log.started_at,
        entry_id=str(entry["id"]) if entry else "",
        tokens_before=_whole(run.tokens_before),
        tokens_after=_whole(run.tokens_after),
        kept=len(whole.get("kept", ())) if entry else None,
        dropped=len(whole.get("summarised", ())) + len(whole.get("turnPrefix", ()))
        if entry
        else None,
        came_in=came_in,
        record=storable_json(whole),
        answers=made.answers,
    )


def compaction_stages(ask: Asked, run: CompactionRun) -> list[StageRecord]:
    """The decisions that led to a compaction, where it was cut, and the compaction's own."""
    request, at = ask.request, (ask.attempt, ask.call)
    stages = list(ask.stages)
    if request is not None:
        if run.prepared is not None:
            cut = run.prepared.cut.decision
            stages.append(StageRecord("compaction_cut", "turn", *at, cut))
        parts = parts_of(request.path, run)
        stages.append(StageRecord("compaction", "turn", *at, run.decision, parts))
    if run.boundary is not None:
        stages.append(StageRecord("boundary", "turn", *at, run.boundary))
    return stages


def _keep_decisions(made: Made, window: Window) -> LiveStep | None:
    """All of them, with what they were made on."""
    ask, arguments = made.ask, made.job.arguments
    if ask.basis is None:
        return None
    asked: dict[str, Any] = {
        name: arguments.get(name) for name in ("trigger", "instructions", "observed")
    }
    if arguments.get("prompt") is not None:
        asked["prompt"] = {"message": arguments["prompt"]}
    asked |= {"attempt": ask.attempt, "call": ask.call}
    if ask.request is not None:
        asked["entryId"] = ask.request.order.entry_id
    stages = stages_made(ask.turn, compaction_stages(ask, made.run))
    return record_step(window, ask.live.setup, stages, LiveStep.Kind.COMPACTION, ask.basis, asked)


def _told(made: Made, record: CompactionRecord) -> dict[str, Any]:
    return {
        "record": str(record.uuid),
        "job": str(made.job.uuid),
        "outcome": record.outcome,
        "reason": record.reason,
        "trigger": record.trigger,
        "entry": record.entry_id or None,
        "tokensBefore": record.tokens_before,
        "tokensAfter": record.tokens_after,
        "cycle": record.cycle,
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else max(0, int(value))
