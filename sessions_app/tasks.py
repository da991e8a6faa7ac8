"""What workers do for this floor: take a job, call a function, store what came of it."""

from __future__ import annotations

from celery import shared_task
from django.db import DatabaseError

from sessions_app import jobs, recount, uploads


@shared_task
def import_uploads(uuid: str) -> None:
    """Import the files of an upload. Sent twice, or again after a crash, it goes on where it was."""
    job = jobs.claim(uuid)
    if job is None:
        return
    try:
        reports = uploads.run(job)
    except (OSError, DatabaseError) as error:
        jobs.fail(job, f"The upload could not be imported: {error}")
        return
    jobs.finish(
        job,
        {
            "files": [
                {
                    "name": report.path,
                    "status": report.status,
                    "error": report.error,
                    "sessions": [str(session.uuid) for session in report.sessions],
                }
                for report in reports
            ]
        },
    )
    uploads.discard(job)  # last: whoever does the job again finds the files


@shared_task
def recount_session(uuid: str) -> None:
    """Count a long session by another vocabulary."""
    job = jobs.claim(uuid)
    if job is None or job.session is None:
        return
    recount.recount(job.session, str(job.arguments["encoding"]), job)
    jobs.finish(job, {})


@shared_task
def sweep_jobs() -> None:
    """Wake workers for jobs that nobody works on."""
    jobs.sweep()
