"""Jobs: the row is the truth, and whatever dies the work is done once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from sessions_app import jobs, tasks, uploads
from sessions_app.batches import FileReport
from sessions_app.models import Job, Session
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The uuids of the jobs that workers were told of."""
    told: list[str] = []

    def send(name: str, args: list[str], **options: Any) -> None:
        assert name == "sessions_app.tasks.import_uploads"
        told.extend(args)

    monkeypatch.setattr(jobs.current_app, "send_task", send)
    return told


def queued(person: Person, **fields: Any) -> Job:
    return Job.objects.create(team=person.team, kind="import", title="x", total=10, **fields)


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


# One writer for each session


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


# Leases


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


# Cancel and retry


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


# Uploads


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
