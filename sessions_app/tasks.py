"""What workers do for this floor: take a job, call a function, store what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celery import shared_task

from sessions_app import following, idempotency, jobs, recount, secret_search, uploads
from sessions_app.working import CannotDo, Hold, do


@shared_task
def import_uploads(uuid: str) -> None:
    """Import the files of an upload. Sent twice, or again after a crash, it goes on where it was."""

    def work(hold: Hold) -> Mapping[str, Any]:
        try:
            reports = uploads.run(hold)
        except OSError as error:
            raise CannotDo(f"The upload could not be imported: {error}") from error
        count = len(reports)
        return {
            "summary": f"{count:,} file{'' if count == 1 else 's'} read",
            "files": [
                {
                    "name": report.path,
                    "status": report.status,
                    "error": report.error,
                    "sessions": [str(session.uuid) for session in report.sessions],
                }
                for report in reports
            ],
        }

    job = do(uuid, work)
    if job is not None:
        uploads.discard(job)  # last: whoever does the job again finds the files


@shared_task
def recount_session(uuid: str) -> None:
    """Count a long session by another vocabulary."""

    def work(hold: Hold) -> Mapping[str, Any]:
        job = hold.job
        if job.session is not None:
            recount.recount(job.session, str(job.arguments["encoding"]), hold)
        return {}

    do(uuid, work)


@shared_task
def count_live_sessions() -> None:
    """Bring the list's numbers of live sessions up to date."""
    following.count_live()


@shared_task
def search_secrets() -> None:
    """Look through what came in for secrets."""
    secret_search.search_all()


@shared_task
def sweep_jobs() -> None:
    """Wake workers for jobs that nobody works on, and drop what nobody asks for any more."""
    jobs.sweep()
    idempotency.forget()
