"""A session is written by one job at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from sessions_app import jobs
from sessions_app.models import Job, Session
from tests.builders import short_session
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of job that writes its session."""
    kind = jobs.Kind("sessions_app.tasks.import_uploads", "write", alone=True)
    monkeypatch.setitem(jobs.KINDS, "write", kind)


def writing(person: Person, session: Session, **fields: Any) -> Job:
    values = {"team": person.team, "kind": "write", "title": "w", "session": session}
    return Job.objects.create(**(values | fields))


def test_a_session_is_written_by_one_job_at_a_time(alice: Person, writers: None) -> None:
    session, other = (alice.imports(short_session(name).data()) for name in ("one", "two"))
    first, second, third = (writing(alice, s) for s in (session, session, other))
    assert jobs.claim(first.uuid) is not None
    assert jobs.claim(second.uuid) is None
    second.refresh_from_db()
    assert (second.state, second.attempts) == ("queued", 0)
    assert jobs.claim(third.uuid) is not None


def test_a_job_that_only_reads_waits_for_nobody(alice: Person, writers: None) -> None:
    session = alice.imports(short_session().data())
    assert jobs.claim(writing(alice, session).uuid) is not None
    assert jobs.claim(queued(alice, session=session).uuid) is not None


def test_the_end_of_a_writer_wakes_the_one_that_waits_longest(
    alice: Person,
    writers: None,
    sent: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    session = alice.imports(short_session().data())
    first, second, third = (writing(alice, session) for _ in range(3))
    mine = jobs.claim(first.uuid)
    assert mine is not None
    with django_capture_on_commit_callbacks(execute=True):
        jobs.fail(mine, "broken")
    assert sent == [str(second.uuid)]
    assert jobs.claim(third.uuid) is not None  # the message decides about nothing


def test_a_writer_that_has_died_keeps_nobody_waiting(alice: Person, writers: None) -> None:
    session = alice.imports(short_session().data())
    now = timezone.now()
    assert jobs.claim(writing(alice, session).uuid, now - timedelta(hours=1)) is not None
    assert jobs.claim(writing(alice, session).uuid, now) is not None
