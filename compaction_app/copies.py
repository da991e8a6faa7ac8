"""Copies of recordings: what changes a session is done on a copy, the recording itself stays."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from compaction_app.engine.lines import lines_of
from compaction_app.runs import Situation, situation_of
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Job, Session
from sessions_app.rows import branch_records
from sessions_app.store import writing

TITLE_CHARS = 180
WITHOUT_AGENT = "imported"


def own_or_copy(job: Job, session: Session) -> Session:
    """The session itself when it is live, else the copy that this job works on, made once."""
    if session.is_live:
        return session
    with transaction.atomic():
        locked = Job.objects.select_for_update().get(pk=job.pk)
        made = locked.arguments.get("copy")
        found = Session.objects.select_related("agent").filter(uuid=UUID(made)) if made else None
        if found is not None and (copy := found.first()) is not None:
            return copy
        copy = copy_of(session)
        locked.arguments = {**locked.arguments, "copy": str(copy.uuid)}
        locked.save(update_fields=["arguments"])
    return copy


def copy_of(session: Session) -> Session:
    """A live session that begins with the active branch of a recording, under the same settings."""
    situation = situation_of(session)
    index = {k: v for k, v in (session.index_entry or {}).items() if k != "sessionId"}
    with transaction.atomic():
        title = f"{session.title[:TITLE_CHARS]} (copy)"
        copy = create_session(_agent_of(situation), title, index=index)
        with writing(copy) as writer:
            writer.append_entries(branch_records(situation.window))
    return copy


def _agent_of(situation: Situation) -> Agent:
    """An agent for the copies of one agent's sessions with one model."""
    session, around = situation.session, situation.around
    own = session.agent
    window = lines_of(situation.policy, around).window
    named = f"{own.name if own else WITHOUT_AGENT} · {around.model or 'unknown model'} · {window:,}"
    agent, _ = Agent.objects.get_or_create(
        team_id=session.team_id,
        name=f"{named[:TITLE_CHARS]} (copies)",
        defaults={
            "provider": around.provider,
            "model": around.model,
            "config_text": own.config_text if own else "",
            "windows": {"contextWindow": window},
            "path": around.path,
        },
    )
    return agent
