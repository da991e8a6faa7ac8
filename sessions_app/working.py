"""Doing a job: the lease is kept while the work goes on, and whatever happens the row says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

import structlog
from celery import current_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, InterfaceError, OperationalError, connections, transaction

from sessions_app import jobs
from sessions_app.models import Job, JobLine

RENEWALS_PER_LEASE = 4
LOOK_SECONDS = 1.0
"""How often a job is looked at while its work is silent, for somebody who wants it cancelled."""
DATABASE_TRIES = 5
DATABASE_PAUSE_SECONDS = 1.0

Stop = Literal["cancelled", "lost"]
log = structlog.get_logger("contextlab.jobs")


class Stopped(Exception):
    """The job is not to go on: somebody cancelled it, or somebody else has it now."""

    def __init__(self, why: Stop) -> None:
        super().__init__(why)
        self.why = why


class CannotDo(Exception):
    """The job has failed for a reason that people can read."""


class Hold:
    """A job in the hands of this process. A thread keeps its lease and looks whether it is cancelled."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.stop: Stop | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        # Inside a transaction nobody else sees the row: there is nothing to keep, and nobody to cancel.
        if not transaction.get_connection().in_atomic_block:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def check(self) -> None:
        """Raises :class:`Stopped` when the job is not to go on."""
        if self.stop is not None:
            raise Stopped(self.stop)

    def progress(self, done: int, total: int, step: str = "") -> None:
        """How far the job is; a place where it can be stopped."""
        self.check()
        jobs.report(self.job, done, total, step)
        self._look()
        self.check()

    def note(self, text: str, level: str = JobLine.Level.INFO) -> None:
        jobs.note(self.job, text, level)

    def sure(self) -> None:
        """In a transaction: nobody else can take the job before it ends.

        Raises:
            Stopped: when somebody has it already, or wants it cancelled.
        """
        row = jobs.held(self.job).select_for_update().values_list("cancel_asked", flat=True).first()
        if row is None:
            raise Stopped("lost")
        if row:
            raise Stopped("cancelled")

    def _keep(self) -> None:
        pause = jobs.LEASE.total_seconds() / RENEWALS_PER_LEASE
        renewed = time.monotonic()
        try:
            while self.stop is None and not self._over.wait(min(LOOK_SECONDS, pause)):
                try:
                    if time.monotonic() - renewed >= pause:
                        jobs.renew(self.job)
                        renewed = time.monotonic()
                    self._look()
                except DatabaseError as error:
                    # The work is not over for it: before anything is written it is looked at again.
                    name = type(error).__name__
                    log.warning("lease not renewed", job=str(self.job.uuid), error=name)
                    connections.close_all()
        finally:
            connections.close_all()

    def _look(self) -> None:
        row = jobs.held(self.job).values_list("cancel_asked", flat=True).first()
        if row is None:
            self.stop = "lost"
        elif row:
            self.stop = "cancelled"


def do(uuid: str, work: Callable[[Hold], Mapping[str, Any]]) -> Job | None:
    """Claim a job and do it. Its row says what came of it; nothing is raised.

    The job when it is done, none when it is not, or was not to be had.
    """
    job = _persistently(lambda: jobs.claim(uuid, worker=_worker()))
    if job is None:
        return None
    try:
        with Hold(job) as hold:
            result = work(hold)
        return job if _persistently(lambda: jobs.finish(job, result)) else None
    except Stopped as stopped:
        if stopped.why == "cancelled":
            _persistently(lambda: jobs.cancelled(job))
    except CannotDo as error:
        reason = str(error)
        _persistently(lambda: jobs.fail(job, reason))
    except SoftTimeLimitExceeded:
        _persistently(lambda: jobs.fail(job, "It took longer than a job may take (JOB_SECONDS)."))
    except (OperationalError, InterfaceError) as error:
        reason = f"The database did not answer: {_first_line(error)}."
        log.warning("job put back", job=uuid, error=type(error).__name__)
        _persistently(lambda: jobs.put_back(job, reason))
    except Exception as error:  # a job never stays without an end because of a fault of ours
        log.exception("job failed", job=uuid)
        reason = f"It broke off with {type(error).__name__}; the log of the worker says more."
        _persistently(lambda: jobs.fail(job, reason))
    return None


def _persistently(write: Callable[[], Any]) -> Any:
    """A write that a lost connection does not lose; given up in the end, then the sweep takes over."""
    for number in range(1, DATABASE_TRIES + 1):
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            log.warning("database not there", tried=number, error=_first_line(error))
            if transaction.get_connection().in_atomic_block or number == DATABASE_TRIES:
                return None
            connections.close_all()
            time.sleep(DATABASE_PAUSE_SECONDS * number)
    return None


def _worker() -> str:
    """Which worker this is; "" outside of one."""
    request = getattr(current_task, "request", None)
    return str(getattr(request, "hostname", "") or "")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
