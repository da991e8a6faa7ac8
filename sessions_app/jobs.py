"""The life of a job. Its row is the truth; a Celery message only wakes a worker.

A worker that takes a job holds a lease and renews it. When it dies the lease runs out and the sweep
sends the job again; whoever takes it next goes on from what is stored. Whoever has lost a job can
write nothing of it any more: every write names its holder. Jobs of a kind that writes a session are
done one at a time for each session; the others wait.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import KombuError

from sessions_app.models import Job, JobAttempt, JobLine, Session, Team
from sessions_app.rows import storable, storable_json

LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
MAX_ATTEMPTS = 5
WAITED = timedelta(seconds=20)
"""A job that waits for longer may have lost its message, and is sent again."""
RESEND = timedelta(minutes=1)
RESEND_IN_LINE = timedelta(minutes=10)
"""How long after a message the next one is sent: as long as the queue moves, those who wait in it were
not forgotten, and a long queue must not grow by messages that say what it holds already."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job: the task that does it, which takes the job's uuid as text, and its name for
    people. ``alone``: it writes the session, so that two of them never run for one session. ``page``: the
    page that shows what ``record`` in its result names."""

    task: str
    title: str
    alone: bool = False
    page: str = ""


KINDS: dict[str, Kind] = {
    "import": Kind("sessions_app.tasks.import_uploads", "import"),
    "recount": Kind("sessions_app.tasks.recount_session", "count tokens"),
}


def register(name: str, kind: Kind) -> None:
    """The floor above hands in what its tasks do."""
    KINDS[name] = kind


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
        title=storable(title, 300),
        arguments=storable_json(dict(arguments)),
        total=total,
        session=session,
    )
    transaction.on_commit(lambda: wake(job))
    return job


def wake(job: Job) -> None:
    """Tell a worker. A broker that is down only delays the job: the sweep will tell again."""
    try:
        current_app.send_task(KINDS[job.kind].task, args=[str(job.uuid)], retry=False)
    except (OSError, KombuError) as error:
        log.warning("job %s stays queued, the broker is not there: %s", job.uuid, error)
    else:
        Job.objects.filter(pk=job.pk).update(woken_at=timezone.now())


def claim(uuid: UUID | str, now: datetime | None = None, worker: str = "") -> Job | None:
    """Take a job that waits, or whose worker has died; none when somebody else has it.

    None too while another job writes its session: the end of that one wakes this one.
    """
    now = now or timezone.now()
    holder = uuid4()
    with transaction.atomic():
        found = Job.objects.select_for_update(of=("self",)).select_related("team", "session__agent")
        job = found.filter(Q(state=Job.State.QUEUED) | lost(now), uuid=uuid).first()
        if job is None or _must_wait(job, now):
            return None
        _end_attempt(job, JobAttempt.Outcome.LOST, "Nothing was heard of the worker any more.", now)
        job.state, job.holder, job.worker = Job.State.RUNNING, holder, worker[:200]
        job.attempts += 1
        job.started_at, job.leased_until, job.error, job.step = now, now + LEASE, "", ""
        job.save()
        JobAttempt.objects.create(job=job, holder=holder, worker=job.worker, started_at=now)
    return job


def lost(now: datetime) -> Q:
    """Jobs whose lease has run out.

    No lease reaches further than one length from now: one that does was given before the clock went
    back, and a worker that lives would have renewed it since.
    """
    over = Q(leased_until__lt=now) | Q(leased_until__gt=now + 2 * LEASE)
    return Q(state=Job.State.RUNNING) & over


def _must_wait(job: Job, now: datetime) -> bool:
    if job.session_id is None or not KINDS[job.kind].alone:
        return False
    Session.objects.select_for_update().only("pk").get(pk=job.session_id)  # one claim at a time
    writers = [name for name, kind in KINDS.items() if kind.alone]
    others = Job.objects.filter(session=job.session_id, state=Job.State.RUNNING, kind__in=writers)
    return others.exclude(lost(now)).exclude(pk=job.pk).exists()


def held(job: Job) -> QuerySet[Job]:
    """The job's row as long as it is in the hands of who claimed it."""
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, holder=job.holder)


def renew(job: Job) -> bool:
    """Keep the lease; whether the job still is this worker's."""
    return bool(held(job).update(leased_until=timezone.now() + LEASE))


def report(job: Job, done: int, total: int | None = None, step: str = "") -> None:
    """How far the job is; also keeps the lease."""
    values: dict[str, Any] = {} if total is None else {"total": total}
    held(job).update(done=done, step=step[:200], leased_until=timezone.now() + LEASE, **values)


def note(job: Job, text: str, level: str = JobLine.Level.INFO) -> None:
    """A line of the job's log."""
    JobLine.objects.create(job=job, text=text[:500], level=level)


def finish(job: Job, result: Mapping[str, Any]) -> bool:
    """The job is done; whether it still was this worker's to end."""
    return _end(job, Job.State.SUCCEEDED, result=dict(result), done=F("total"))


def fail(job: Job, error: str) -> None:
    _end(job, Job.State.FAILED, error)


def cancelled(job: Job) -> None:
    """The worker has stopped as it was asked to."""
    _end(job, Job.State.CANCELLED, "Cancelled.")


def put_back(job: Job, error: str) -> None:
    """The worker cannot go on, but later somebody can; failed when that was said too often."""
    if job.attempts >= MAX_ATTEMPTS:
        fail(job, f"{error} This was attempt {job.attempts}, the last one.")
        return
    now = timezone.now()
    with transaction.atomic():
        values = {"leased_until": None, "holder": None, "queued_at": now, "step": ""}
        if held(job).update(state=Job.State.QUEUED, **values):
            _end_attempt(job, JobAttempt.Outcome.PUT_BACK, error, now)


def _end(job: Job, state: Job.State, error: str = "", **values: Any) -> bool:
    now = timezone.now()
    with transaction.atomic():
        ended = held(job).update(
            state=state, error=error, finished_at=now, leased_until=None, step="", **values
        )
        if not ended:
            return False
        _end_attempt(job, JobAttempt.Outcome(state), error, now)
        if job.session_id is not None and KINDS[job.kind].alone:
            transaction.on_commit(lambda: _wake_next(job))
    return True


def _end_attempt(job: Job, outcome: JobAttempt.Outcome, error: str, now: datetime) -> None:
    going_on = JobAttempt.objects.filter(job=job, outcome=JobAttempt.Outcome.GOING_ON)
    going_on.update(outcome=outcome, error=error, ended_at=now)


def _wake_next(job: Job) -> None:
    """Tell a worker of the job that has waited longest for this session."""
    waiting = Job.objects.filter(session=job.session_id, state=Job.State.QUEUED)
    following = waiting.order_by("queued_at", "pk").first()
    if following is not None:
        wake(following)


def cancel(job: Job, now: datetime | None = None) -> None:
    """Ask for the end of a job: at once when nobody works on it, else as soon as its worker looks."""
    now = now or timezone.now()
    idle = Q(state=Job.State.QUEUED) | lost(now)
    with transaction.atomic():
        values = {"finished_at": now, "leased_until": None, "holder": None, "step": ""}
        ended = Job.objects.filter(idle, pk=job.pk).update(
            state=Job.State.CANCELLED, error="Cancelled.", **values
        )
        if ended:
            _end_attempt(job, JobAttempt.Outcome.LOST, "", now)
        else:
            Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(cancel_asked=True)


def retry(job: Job) -> bool:
    """Do a job that has failed or was cancelled again; whether it was one."""
    now = timezone.now()
    ended = (Job.State.FAILED, Job.State.CANCELLED)
    again = Job.objects.filter(pk=job.pk, state__in=ended).update(
        state=Job.State.QUEUED, attempts=0, cancel_asked=False, error="", done=0, step="",
        holder=None, worker="", queued_at=now, started_at=None, finished_at=None,
    )  # fmt: skip
    if again:
        transaction.on_commit(lambda: wake(job))
    return bool(again)


def sweep(now: datetime | None = None) -> int:
    """Send every job again that nobody works on. Returns how many.

    A job that has lost its worker too often is failed, so that it cannot kill workers for ever.
    """
    now = now or timezone.now()
    without = Job.objects.filter(lost(now))
    for job in without.filter(attempts__gte=MAX_ATTEMPTS):
        fail(job, f"The worker died {job.attempts} times while doing this.")
    for job in without.filter(cancel_asked=True):
        cancel(job, now)
    moves = Job.objects.filter(started_at__gt=now - RESEND, started_at__lte=now).exists()
    waiting = Job.objects.filter(state=Job.State.QUEUED, queued_at__lt=now - WAITED)
    # A message from before the loss was taken by the worker that died.
    stuck = list(without.exclude(_told_since(now - RESEND, now), woken_at__gte=F("leased_until")))
    stuck += waiting.exclude(_told_since(now - (RESEND_IN_LINE if moves else RESEND), now))
    for job in stuck:
        wake(job)
    return len(stuck)


def _told_since(since: datetime, now: datetime) -> Q:
    """Jobs of which a worker was told lately; a time to come was written before the clock went back."""
    return Q(woken_at__gte=since, woken_at__lte=now)
