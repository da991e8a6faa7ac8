"""What workers do for this floor."""

from __future__ import annotations

import logging

from celery import shared_task
from django.db import DatabaseError

from compaction_app import audits, retention
from sessions_app import jobs

log = logging.getLogger(__name__)


@shared_task
def audit_session(uuid: str) -> None:
    """Work out a session's decisions; done again it goes on behind the turns that are stored."""
    job = jobs.claim(uuid)
    if job is None or job.session is None:
        return
    try:
        done = audits.audit_session(job.session, lambda turns: jobs.report(job, turns))
    except DatabaseError:
        raise  # the database may take it when the job is sent again
    except Exception as error:  # whatever a file holds, its owner is told that this cannot be done
        log.exception("audit of session %s", job.session.uuid)
        jobs.fail(job, f"The decisions could not be worked out: {type(error).__name__}: {error}")
        return
    jobs.finish(job, {"turns": done})


@shared_task
def drop_old_decisions() -> None:
    """Keep to the limits of age and number."""
    retention.drop_old()
