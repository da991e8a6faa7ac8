"""Jobs: the row is the truth; a message only wakes a worker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from sessions_app import jobs
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


def test_what_a_database_cannot_keep_is_left_out_of_a_job(alice: Person) -> None:
    job = jobs.enqueue(alice.team, "import", "a\x00b", {"text": "c\x00d", "number": float("nan")})
    job.refresh_from_db()
    assert "\x00" not in job.title + job.arguments["text"]
    assert job.arguments["number"] is None


def test_a_worker_is_told_once_the_row_is_committed(
    alice: Person,
    sent: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.enqueue(alice.team, "import", "t" * 400, {"folder": "f"}, 7)
        assert sent == []
    assert sent == [str(job.uuid)]
    assert (job.state, job.total, len(job.title)) == ("queued", 7, 300)


@pytest.mark.parametrize("error", [OSError("refused"), OperationalError("down")])
def test_a_broker_that_is_down_only_delays(
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(jobs.current_app, "send_task", fail)
        with django_capture_on_commit_callbacks(execute=True):
            job = jobs.enqueue(alice.team, "import", "x", {})
    told: list[object] = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda *a, **o: told.append(o["args"]))
    assert jobs.sweep(timezone.now() + timedelta(minutes=1)) == 1
    assert told == [[str(job.uuid)]]


def test_a_job_is_claimed_once(alice: Person) -> None:
    job = queued(alice)
    mine = jobs.claim(job.uuid)
    assert mine is not None
    assert (mine.state, mine.attempts, mine.team) == ("running", 1, alice.team)
    assert jobs.claim(job.uuid) is None
    assert jobs.claim("00000000-0000-4000-8000-000000000000") is None


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled"])
def test_what_has_ended_is_not_claimed(alice: Person, state: str) -> None:
    assert jobs.claim(queued(alice, state=state).uuid) is None


def test_the_end_of_a_job_is_written_once(alice: Person) -> None:
    job = jobs.claim(queued(alice).uuid)
    assert job is not None
    jobs.finish(job, {"files": []})
    jobs.fail(job, "too late")
    jobs.report(job, 1)
    job.refresh_from_db()
    assert (job.state, job.done, job.error, job.result) == ("succeeded", 10, "", {"files": []})
    assert job.finished_at is not None
    assert job.leased_until is None
