"""The job that does what a turn needs first, or what its end has made due: asked for once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from compaction_app import compaction_jobs, flush_jobs
from compaction_app.next_step import Next
from sessions_app.models import Agent, Job, Session


def due_job(session: Session, step: Next, prompt: Mapping[str, Any] | None = None) -> Job | None:
    """The job for a step of a live session's turn; none when nothing is due, or its agent does it.

    Whoever asks while one is open gets that one, so that the same question has the same answer.
    """
    if step.action == "flush":
        if session.agent is None or session.agent.flush_by == Agent.FlushBy.AGENT:
            return None
        return _once(session, flush_jobs.KIND, lambda: _flush(session, prompt))
    if step.compaction is not None:
        return _once(session, compaction_jobs.KIND, lambda: _compaction(session, step, prompt))
    return None


def _once(session: Session, kind: str, request: Any) -> Job:
    with transaction.atomic():
        Session.objects.select_for_update().only("pk").get(pk=session.pk)
        found = Job.objects.filter(session=session, kind=kind, state__in=Job.OPEN).order_by("pk")
        made: Job = found.first() or request()
    return made


def _flush(session: Session, prompt: Mapping[str, Any] | None) -> Job:
    return flush_jobs.request_flush(session, trigger=flush_jobs.DUE, prompt=prompt)


def _compaction(session: Session, step: Next, prompt: Mapping[str, Any] | None) -> Job:
    assert step.compaction is not None
    return compaction_jobs.request_compaction(
        session,
        trigger=step.compaction.trigger,
        prompt=prompt,
        observed=step.compaction.order.observed_tokens,
    )
