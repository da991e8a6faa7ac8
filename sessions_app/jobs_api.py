"""The API about jobs: what there is, how far each is, waiting for one, ending one."""

from __future__ import annotations

import time
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from sessions_app import jobs
from sessions_app.api import NO_NUL, PROBLEMS, Cursor, Limit
from sessions_app.api_access import READ, READ_ASYNC, WRITE, Conflict, load, owned
from sessions_app.models import Job
from sessions_app.pool import in_pool
from sessions_app.schemas import JobOut, JobPage, Problem
from sessions_app.waiting import MOST_SECONDS, job_ended

router = Router(tags=["jobs"], by_alias=True)
Word = Annotated[str, Query(max_length=40, pattern=NO_NUL)]
Wait = Annotated[float, Query(ge=0, le=MOST_SECONDS, description="Seconds to hold the answer until the job has ended.")]  # fmt: skip


@router.get("/jobs", auth=READ, response={200: JobPage, **PROBLEMS})
def list_jobs(
    request: HttpRequest,
    state: Word = "",
    kind: Word = "",
    session: UUID | None = None,
    before: Cursor = None,
    limit: Limit = 50,
) -> dict[str, Any]:
    """The team's jobs, newest first."""
    found = owned(Job.objects.select_related("session"), request).order_by("-pk")
    wanted = {"state": state, "kind": kind, "session__uuid": session}
    found = found.filter(**{name: value for name, value in wanted.items() if value})
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(found[: limit + 1])
    return {
        "items": [job_out(job) for job in rows[:limit]],
        "next": rows[limit - 1].pk if len(rows) > limit else None,
    }


@router.get("/jobs/{uuid:job_id}", auth=READ_ASYNC, response={200: JobOut, **PROBLEMS})
async def read_job(request: HttpRequest, job_id: UUID, wait: Wait = 0) -> dict[str, Any]:
    """How far a job is; with `wait` once it has ended, or the time is up."""
    deadline = time.monotonic() + wait
    await in_pool(_job, request, job_id)  # somebody else's is not waited for
    await job_ended(job_id, deadline)
    return job_out(await in_pool(_job, request, job_id))


@router.post("/jobs/{uuid:job_id}/cancel", auth=WRITE, response={200: JobOut, **PROBLEMS})
def cancel_job(request: HttpRequest, job_id: UUID) -> dict[str, Any]:
    """Ask for its end: at once when it waits, between or during model calls when it runs."""
    jobs.cancel(_job(request, job_id))
    return job_out(_job(request, job_id))


@router.post("/jobs/{uuid:job_id}/retry", auth=WRITE, response={200: JobOut, **PROBLEMS, 409: Problem})  # fmt: skip
def retry_job(request: HttpRequest, job_id: UUID) -> dict[str, Any]:
    """Do a job again that failed or was cancelled."""
    if not jobs.retry(_job(request, job_id)):
        raise Conflict("Only a job that failed or was cancelled can be done again.")
    return job_out(_job(request, job_id))


def job_out(job: Job) -> dict[str, Any]:
    names = [name for name in JobOut.model_fields if name not in ("id", "session")]
    session = job.session.uuid if job.session else None
    return {"id": job.uuid, "session": session, **{name: getattr(job, name) for name in names}}


def _job(request: HttpRequest, job_id: UUID) -> Job:
    return load(Job.objects.select_related("session"), request, job_id)
