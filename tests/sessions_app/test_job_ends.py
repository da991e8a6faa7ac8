"""Jobs are cancelled, and done again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from sessions_app import jobs
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


def test_a_job_that_waits_is_cancelled_at_once(alice: Person) -> None:
    job = queued(alice)
    jobs.cancel(job)
    job.refresh_from_db()
    assert (job.state, job.error) == ("cancelled", "Cancelled.")
    assert jobs.claim(job.uuid) is None


def test_a_running_job_is_told_and_ends_by_its_worker(alice: Person) -> None:
    mine = jobs.claim(queued(alice).uuid)
    assert mine is not None
    jobs.cancel(mine)
    mine.refresh_from_db()
    assert (mine.state, mine.cancel_asked) == ("running", True)
    assert jobs.renew(mine)  # it goes on to hold the job until it has stopped
    jobs.cancelled(mine)
    mine.refresh_from_db()
    assert (mine.state, mine.tries.get().outcome) == ("cancelled", "cancelled")


def test_a_job_whose_worker_died_is_cancelled_by_the_sweep(alice: Person, sent: list[str]) -> None:
    job = queued(alice)
    mine = jobs.claim(job.uuid, timezone.now() - jobs.LEASE + timedelta(seconds=2))
    assert mine is not None
    jobs.cancel(mine)
    assert jobs.sweep(timezone.now() + timedelta(seconds=3)) == 0
    job.refresh_from_db()
    assert (job.state, sent) == ("cancelled", [])


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_what_did_not_succeed_can_be_done_again(
    alice: Person,
    sent: list[str],
    state: str,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    job = queued(alice, state=state, attempts=5, error="broken", cancel_asked=True)
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.retry(job)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error, job.cancel_asked) == ("queued", 0, "", False)
    assert sent == [str(job.uuid)]
    assert jobs.claim(job.uuid) is not None


@pytest.mark.parametrize("state", ["queued", "running", "succeeded"])
def test_nothing_else_is_done_again(alice: Person, state: str) -> None:
    job = queued(alice, state=state)
    assert not jobs.retry(job)
    job.refresh_from_db()
    assert job.state == state
