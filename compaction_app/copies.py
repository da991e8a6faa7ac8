"""Copies of recordings: what changes a session is done on a copy, the recording itself stays."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from compaction_app.engine.lines import lines_of
from compaction_app.engine.simulation.recording import RecordedTurn, read_recording
from compaction_app.run_memory import RunMemory, with_memory
from compaction_app.runs import Situation, situation_of
from compaction_app.session_guard import ends_run
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Job, Session
from sessions_app.rows import branch_records
from sessions_app.store import writing

TITLE_CHARS = 130
AGENT_CHARS = 180
WITHOUT_AGENT = "imported"


def own_or_copy(job: Job, session: Session, done: str) -> Session:
    """The session itself when it is live, else the copy that this job works on, made once.

    ``done`` says for the copy's title what is done to it: ``compacted``.
    """
    if session.is_live:
        return session
    with transaction.atomic():
        locked = Job.objects.select_for_update().get(pk=job.pk)
        made = locked.arguments.get("copy")
        found = Session.objects.select_related("agent").filter(uuid=UUID(made)) if made else None
        if found is not None and (copy := found.first()) is not None:
            return copy
        copy = copy_of(session, done)
        locked.arguments = {**locked.arguments, "copy": str(copy.uuid)}
        locked.save(update_fields=["arguments"])
    return copy


def copy_of(session: Session, done: str) -> Session:
    """A live session that begins with the active branch of a recording, under the same settings.

    Its turns are counted as the recording's, and one that is not answered yet goes on.
    """
    situation = situation_of(session)
    index = {k: v for k, v in (session.index_entry or {}).items() if k != "sessionId"}
    with transaction.atomic():
        when = f"{timezone.now():%Y-%m-%d %H:%M %Z}"
        number = session.copies.count() + 1
        title = f"{session.title[:TITLE_CHARS]} · {done} {when} · copy {number}"
        copy = create_session(_agent_of(situation), title, index=index)
        copy.copied_from = session
        copy.save(update_fields=["copied_from"])
        with writing(copy) as writer:
            stored = writer.append_entries(branch_records(situation.window))
            turns = read_recording([entry for entry, _ in stored]).turns
            writer.state = with_memory(writer.state, _memory(turns))
    return copy


def _memory(turns: Sequence[RecordedTurn]) -> RunMemory:
    """What a live session would remember that had been fed with these turns."""
    if not turns:
        return RunMemory()
    calls = [call.entry["message"] for call in turns[-1].calls]
    if turns[-1].kind == "compact" or (calls and ends_run(calls[-1])):
        return RunMemory(turn=len(turns))
    usages = tuple(message.get("usage") for message in calls)
    return RunMemory(turn=len(turns), is_open=True, usages=usages)


def _agent_of(situation: Situation) -> Agent:
    """An agent for the copies of one agent's sessions with one model."""
    session, around = situation.session, situation.around
    own = session.agent
    window = lines_of(situation.policy, around).window
    named = f"{own.name if own else WITHOUT_AGENT} · {around.model or 'unknown model'} · {window:,}"
    agent, _ = Agent.objects.get_or_create(
        team_id=session.team_id,
        name=f"{named[:AGENT_CHARS]} (copies)",
        defaults={
            "provider": around.provider,
            "model": around.model,
            "config_text": own.config_text if own else "",
            "windows": {"contextWindow": window},
            "path": around.path,
        },
    )
    return agent
