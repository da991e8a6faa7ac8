"""The life of a job. Its row is the truth; a Celery message only wakes a worker.

A worker that takes a job holds a lease and renews it with every progress report. When it dies the
lease runs out and the sweep sends the job again; whoever takes it next goes on from what is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import KombuError

from sessions_app.models import Job, Session, Team

LEASE = timedelta(minutes=1)
MAX_ATTEMPTS = 5
TASKS = {
    "import": "sessions_app.tasks.import_uploads",
    "recount": "sessions_app.tasks.recount_session",
}
"""Which task does a kind of job. A task takes the job's uuid as text."""

log = logging.getLogger(__name__)


def enqueue(
    team: Team,
    kind: str,
    title: str,
    arguments: Mapping[str, Any],
    total: int = 0,
    session: Session | None = None,
) -> Job:
    """A new job; a worker is woken once the row is committed."""
    job = Job.objects.create(
        team=team,
        kind=kind,
        title=title[:300],
        arguments=dict(arguments),
        total=total,
        session=session,
    )
    transaction.on_commit(lambda: wake(job))
    return job


def wake(job: Job) -> None:
    """Tell a worker. A broker that is down only delays the job: the sweep will tell again."""
    try:
        current_app.send_task(TASKS[job.kind], args=[str(job.uuid)], retry=False)
    except (OSError, KombuError) as error:
        log.warning("job %s stays queued, the broker is not there: %s", job.uuid, error)


def claim(uuid: UUID | str, now: datetime | None = None) -> Job | None:
    """Take a job that waits, or whose worker has died; none when somebody else has it."""
    now = now or timezone.now()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, leased_until__lt=now)
    taken = Job.objects.filter(free, uuid=uuid).update(
        state=Job.State.RUNNING,
        attempts=F("attempts") + 1,
        started_at=now,
        leased_until=now + LEASE,
        error="",
    )
    return Job.objects.select_related("team").get(uuid=uuid) if taken else None


def report(job: Job, done: int) -> None:
    """How far the job is; also keeps the lease."""
    Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(
        done=done, leased_until=timezone.now() + LEASE
    )


def finish(job: Job, result: Mapping[str, Any]) -> None:
    _end(job, Job.State.SUCCEEDED, result=dict(result), done=F("total"))


def fail(job: Job, error: str) -> None:
    _end(job, Job.State.FAILED, error=error)


def _end(job: Job, state: str, **values: Any) -> None:
    Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(
        state=state, finished_at=timezone.now(), leased_until=None, **values
    )


def sweep(now: datetime | None = None) -> int:
    """Send every job again that nobody works on. Returns how many.

    A job that has lost its worker too often is failed, so that it cannot kill workers for ever.
    """
    now = now or timezone.now()
    lost = Job.objects.filter(state=Job.State.RUNNING, leased_until__lt=now)
    for job in lost.filter(attempts__gte=MAX_ATTEMPTS):
        fail(job, f"The worker died {job.attempts} times while doing this.")
    waiting = Job.objects.filter(state=Job.State.QUEUED, created_at__lt=now - timedelta(seconds=20))
    stuck = list(lost) + list(waiting)
    for job in stuck:
        wake(job)
    return len(stuck)
