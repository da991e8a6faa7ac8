"""The sweep sends every job again that nobody works on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app import jobs
from sessions_app.models import Job
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


def test_the_sweep_tells_of_jobs_that_nobody_works_on(alice: Person, sent: list[str]) -> None:
    now = timezone.now()
    fresh = queued(alice)
    waiting = queued(alice, queued_at=now - timedelta(minutes=1))
    lost = queued(alice, state="running", leased_until=now - timedelta(seconds=1), attempts=1)
    queued(alice, state="running", leased_until=now + timedelta(seconds=30), attempts=1)
    queued(alice, state="succeeded")
    assert jobs.sweep(now) == 2
    assert sorted(sent) == sorted([str(waiting.uuid), str(lost.uuid)])
    assert str(fresh.uuid) not in sent


def test_a_long_queue_does_not_grow_by_its_own_messages(alice: Person, sent: list[str]) -> None:
    now = timezone.now()
    long_ago = now - timedelta(minutes=5)
    for _ in range(3):
        queued(alice, queued_at=long_ago)
    assert jobs.sweep(now) == 3
    assert jobs.sweep(now + timedelta(seconds=30)) == 0
    assert jobs.sweep(now + timedelta(seconds=90)) == 3  # nothing moves: the messages may be lost
    queued(alice, state="running", started_at=now + timedelta(seconds=200),
           leased_until=now + timedelta(seconds=240), attempts=1)  # fmt: skip
    assert jobs.sweep(now + timedelta(seconds=210)) == 0  # it moves: they stand in line
    assert jobs.sweep(now + timedelta(minutes=20)) >= 3


def test_a_job_that_kills_its_workers_is_failed(alice: Person, sent: list[str]) -> None:
    past = timezone.now() - timedelta(seconds=1)
    job = queued(alice, state="running", leased_until=past, attempts=jobs.MAX_ATTEMPTS)
    assert jobs.sweep() == 0
    job.refresh_from_db()
    assert (job.state, sent) == ("failed", [])
    assert "died 5 times" in job.error


def test_a_lost_job_is_told_of_again_at_once_and_then_now_and_again(
    alice: Person, sent: list[str]
) -> None:
    """With a short lease the message that the dead worker took is still young."""
    now = timezone.now()
    job = queued(alice, state="running", attempts=1, woken_at=now - timedelta(seconds=15),
                 leased_until=now - timedelta(seconds=1))  # fmt: skip
    assert jobs.sweep(now) == 1
    Job.objects.filter(pk=job.pk).update(woken_at=now)
    assert jobs.sweep(now + timedelta(seconds=30)) == 0
    assert jobs.sweep(now + timedelta(seconds=90)) == 1
