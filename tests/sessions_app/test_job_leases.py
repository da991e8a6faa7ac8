"""A worker holds a job by a lease; who has lost it writes nothing more."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app import jobs
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


def test_a_lease_that_has_run_out_frees_the_job(alice: Person) -> None:
    job = queued(alice)
    now = timezone.now()
    jobs.claim(job.uuid, now)
    assert jobs.claim(job.uuid, now + jobs.LEASE) is None
    again = jobs.claim(job.uuid, now + jobs.LEASE + timedelta(seconds=1))
    assert again is not None
    assert again.attempts == 2


def test_progress_keeps_the_lease(alice: Person) -> None:
    long_ago = timezone.now() - timedelta(minutes=10)
    job = jobs.claim(queued(alice).uuid, long_ago)
    assert job is not None
    jobs.report(job, 4)
    job.refresh_from_db()
    assert job.done == 4
    assert jobs.claim(job.uuid) is None


def test_who_has_lost_a_job_writes_nothing_more(alice: Person) -> None:
    job = queued(alice)
    late = jobs.claim(job.uuid, timezone.now() - timedelta(hours=1))
    now = jobs.claim(job.uuid)
    assert late is not None and now is not None
    jobs.report(late, 9)
    jobs.fail(late, "too late")
    assert not jobs.finish(late, {})
    assert not jobs.renew(late)
    job.refresh_from_db()
    assert (job.state, job.done, job.error) == ("running", 0, "")
    assert jobs.finish(now, {"by": "the second"})
    outcomes = [(one.outcome, bool(one.ended_at)) for one in job.tries.all()]
    assert outcomes == [("lost", True), ("succeeded", True)]


def test_a_clock_that_goes_back_keeps_no_job_for_long(alice: Person, sent: list[str]) -> None:
    job = queued(alice)
    tomorrow = timezone.now() + timedelta(days=1)
    assert jobs.claim(job.uuid, tomorrow) is not None
    assert jobs.sweep() == 1
    assert jobs.claim(job.uuid) is not None
    assert jobs.claim(job.uuid) is None  # the lease of today holds


def test_a_job_that_is_put_back_is_done_later_by_anybody(alice: Person) -> None:
    mine = jobs.claim(queued(alice).uuid)
    assert mine is not None
    jobs.put_back(mine, "The database did not answer.")
    mine.refresh_from_db()
    assert (mine.state, mine.holder, mine.error) == ("queued", None, "")
    assert [one.error for one in mine.tries.all()] == ["The database did not answer."]
    again = jobs.claim(mine.uuid)
    assert again is not None and again.attempts == 2


def test_a_job_is_put_back_only_so_often(alice: Person) -> None:
    job = queued(alice, attempts=jobs.MAX_ATTEMPTS - 1)
    mine = jobs.claim(job.uuid)
    assert mine is not None
    jobs.put_back(mine, "The database did not answer.")
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error == "The database did not answer. This was attempt 5, the last one."
