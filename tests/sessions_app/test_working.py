"""Doing a job: whatever the work does, the row says what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, transaction

from sessions_app import jobs, working
from sessions_app.models import Job
from sessions_app.working import CannotDo, Hold, Stopped, do
from tests.conftest import Person


@pytest.fixture
def job(alice: Person) -> Job:
    return Job.objects.create(team=alice.team, kind="import", title="x", total=10)


def raising(error: Exception) -> Any:
    def work(hold: Hold) -> Mapping[str, Any]:
        raise error

    return work


@pytest.mark.django_db
def test_the_work_reports_and_its_result_is_kept(job: Job) -> None:
    def work(hold: Hold) -> Mapping[str, Any]:
        hold.progress(3, 7, "chunk 3 of 7")
        hold.note("three chunks are done")
        job.refresh_from_db()
        assert (job.done, job.total, job.step) == (3, 7, "chunk 3 of 7")
        return {"summary": "all is well"}

    assert do(str(job.uuid), work) == job
    job.refresh_from_db()
    assert (job.state, job.done, job.step) == ("succeeded", 7, "")
    assert job.result == {"summary": "all is well"}
    assert [line.text for line in job.lines.all()] == ["three chunks are done"]
    assert do(str(job.uuid), work) is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (CannotDo("The file is gone."), "failed", "The file is gone."),
        (KeyError("secret text"), "failed", "It broke off with KeyError; the log of the worker"),
        (SoftTimeLimitExceeded(), "failed", "It took longer than a job may take (JOB_SECONDS)."),
        (Stopped("cancelled"), "cancelled", "Cancelled."),
    ],
)
def test_a_job_that_breaks_off_says_why(
    job: Job, error: Exception, state: str, reason: str
) -> None:
    assert do(str(job.uuid), raising(error)) is None
    job.refresh_from_db()
    assert job.state == state
    assert job.error.startswith(reason)
    assert "secret text" not in job.error
    assert job.tries.get().outcome == state


@pytest.mark.django_db
def test_a_database_that_does_not_answer_puts_the_job_back(job: Job) -> None:
    do(str(job.uuid), raising(OperationalError("server closed the connection\nunexpectedly")))
    job.refresh_from_db()
    assert job.state == "queued"
    assert "server closed the connection." in job.tries.get().error


@pytest.mark.django_db
def test_a_job_that_another_has_taken_is_left_alone(job: Job) -> None:
    def work(hold: Hold) -> Mapping[str, Any]:
        later = jobs.claim(job.uuid, hold.job.started_at + timedelta(hours=1))
        assert later is not None
        with transaction.atomic(), pytest.raises(Stopped, match="lost"):
            hold.sure()
        return {"by": "the first"}

    assert do(str(job.uuid), work) is None
    job.refresh_from_db()
    assert (job.state, job.result) == ("running", {})


@pytest.mark.django_db
def test_before_writing_a_cancelled_job_stops(job: Job) -> None:
    def work(hold: Hold) -> Mapping[str, Any]:
        jobs.cancel(hold.job)
        with transaction.atomic():
            hold.sure()
        return {}

    do(str(job.uuid), work)
    job.refresh_from_db()
    assert job.state == "cancelled"


def until(true: Any, seconds: float = 10) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_kept_while_the_work_is_silent_and_a_cancel_is_noticed(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.4))
    begun, seen = threading.Event(), []

    def work(hold: Hold) -> Mapping[str, Any]:
        job.refresh_from_db()
        first = job.leased_until
        begun.set()
        until(lambda: Job.objects.get(pk=job.pk).leased_until != first)
        jobs.cancel(hold.job)
        until(lambda: hold.stop == "cancelled")
        seen.append(True)
        hold.check()
        return {}

    do(str(job.uuid), work)
    job.refresh_from_db()
    assert (job.state, seen, begun.is_set()) == ("cancelled", [True], True)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_was_taken_for_dead_notices(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.4))

    def work(hold: Hold) -> Mapping[str, Any]:
        Job.objects.update(holder="00000000-0000-4000-8000-000000000000")
        until(lambda: hold.stop == "lost")
        hold.progress(1, 2)
        return {}

    do(str(job.uuid), work)
    job.refresh_from_db()
    assert (job.state, job.done) == ("running", 0)


def test_the_pause_between_renewals_is_a_part_of_the_lease() -> None:
    assert working.RENEWALS_PER_LEASE >= 3
