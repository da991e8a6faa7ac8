"""Uploads that are imported by a job."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from sessions_app import jobs, tasks, uploads
from sessions_app.batches import FileReport
from sessions_app.models import Job, Session
from tests.builders import short_session
from tests.conftest import Person
from tests.sessions_app.queued_jobs import queued

pytestmark = pytest.mark.django_db


def upload(person: Person, *named: tuple[str, bytes]) -> list[FileReport] | Job:
    return uploads.receive(person.team, [SimpleUploadedFile(name, data) for name, data in named])


def large() -> bytes:
    chain = short_session()
    chain.user("x" * uploads.AT_ONCE_BYTES)
    return chain.data()


def queued_upload(person: Person, *named: tuple[str, bytes]) -> Job:
    job = upload(person, *named)
    assert isinstance(job, Job)
    return job


def test_small_files_are_imported_at_once(alice: Person) -> None:
    reports = upload(
        alice, ("C:\\logs\\one.jsonl", short_session().data()), ("../two.jsonl", b"no\n")
    )
    assert isinstance(reports, list)
    assert [(r.path, r.status) for r in reports] == [
        ("one.jsonl", "imported"),
        ("two.jsonl", "refused"),
    ]
    assert not Job.objects.exists()


def test_two_files_of_one_name_are_two_files(alice: Person) -> None:
    one, two = short_session("one"), short_session("two")
    upload(alice, ("session.jsonl", one.data()), ("session.jsonl", two.data()))
    assert [s.title for s in Session.objects.order_by("pk")] == ["session", "session"]


def test_large_files_become_a_job_that_a_worker_imports(alice: Person, data_dir: object) -> None:
    job = queued_upload(alice, ("big.jsonl", large()), ("small.jsonl", b"no\n"))
    assert (job.title, job.team) == ("big.jsonl and 1 more", alice.team)
    assert job.total == len(large()) + 3
    assert not Session.objects.exists()
    tasks.import_uploads(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.done) == ("succeeded", job.total)
    session = Session.objects.get()
    first, second = job.result["files"]
    assert first == {
        "name": "big.jsonl",
        "status": "imported",
        "error": "",
        "sessions": [str(session.uuid)],
    }
    assert (second["status"], second["sessions"]) == ("refused", [])
    assert list(uploads.uploads_folder().iterdir()) == []


def test_a_message_that_comes_twice_does_nothing_twice(alice: Person, data_dir: object) -> None:
    job = queued_upload(alice, ("big.jsonl", large()))
    for _ in range(2):
        tasks.import_uploads(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("succeeded", 1)
    assert Session.objects.count() == 1


def test_a_worker_that_died_after_importing_is_followed_by_one_that_says_so(
    alice: Person, data_dir: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued_upload(alice, ("big.jsonl", large()))

    def die(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(jobs, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            tasks.import_uploads(str(job.uuid))
    Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    tasks.import_uploads(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("succeeded", 2)
    assert job.result["files"][0]["status"] == "unchanged"
    assert Session.objects.count() == 1


def test_an_upload_whose_files_are_gone_fails_and_says_so(alice: Person, data_dir: object) -> None:
    job = queued_upload(alice, ("big.jsonl", large()))
    uploads.discard(job)
    tasks.import_uploads(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "failed"
    assert "could not be imported" in job.error


def test_a_job_reads_only_below_the_uploads_folder(alice: Person, data_dir: object) -> None:
    arguments = {"folder": "../../etc", "names": ["passwd"]}
    job = queued(alice, arguments=arguments)
    tasks.import_uploads(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "failed"
