"""The pages about jobs: list, one job, cancel, retry; nothing of other teams."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from contextlab.models import WorkerHeartbeat
from sessions_app import jobs
from sessions_app.models import Job
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


def made(person: Person, **fields: Any) -> Job:
    values = {"team": person.team, "kind": "import", "title": "big.jsonl"}
    return Job.objects.create(**(values | fields))


def listed(person: Person, **query: str) -> str:
    answer = person.client.get(reverse("jobs"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def shown(person: Person, job: Job) -> str:
    answer = person.client.get(reverse("job", args=[job.uuid]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_without_jobs_it_says_what_will_be_here(alice: Person) -> None:
    assert "No jobs yet" in listed(alice)
    assert "no worker was seen" in listed(alice)


def test_a_job_is_shown_with_its_progress_and_worker(alice: Person) -> None:
    job = made(alice, total=7)
    mine = jobs.claim(job.uuid, worker="worker@here")
    assert mine is not None
    jobs.report(mine, 3, step="chunk 3 of 7")
    html = listed(alice)
    assert "chunk 3 of 7" in html and "42.9 %" in html and "worker@here" in html
    assert "load delay:1s" in html
    jobs.finish(mine, {})
    assert "load delay:10s" in listed(alice)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({}, {"one", "two", "three"}),
        ({"state": "failed"}, {"two"}),
        ({"kind": "recount"}, {"three"}),
        ({"q": "TW"}, {"two"}),
        ({"q": "no space"}, {"two"}),
        ({"state": "nonsense", "kind": "nonsense", "page": "x"}, {"one", "two", "three"}),
        ({"q": "a\x00b"}, set()),
    ],
)
def test_the_list_can_be_narrowed(alice: Person, query: dict[str, str], titles: set[str]) -> None:
    made(alice, title="one")
    made(alice, title="two", state="failed", error="no space left")
    made(alice, title="three", kind="recount")
    html = listed(alice, **query)
    assert {name for name in ("one", "two", "three") if f">{name}</a>" in html} == titles


def test_the_queue_and_the_workers_are_shown(alice: Person) -> None:
    now = timezone.now()
    made(alice, queued_at=now - timedelta(seconds=75))
    WorkerHeartbeat.objects.create(name="worker@new", seen_at=now)
    WorkerHeartbeat.objects.create(name="worker@old", seen_at=now - timedelta(minutes=5))
    html = listed(alice)
    assert "the oldest for <b>7" in html
    assert html.count("silent since") == 1
    assert "<b>lives</b>" in html


def test_a_job_says_all_it_knows(alice: Person) -> None:
    session = alice.imports(short_session().data())
    job = made(alice, session=session)
    jobs.claim(job.uuid, timezone.now() - timedelta(hours=1), worker="first")
    mine = jobs.claim(job.uuid, worker="second")
    assert mine is not None
    jobs.note(mine, "began again", "warning")
    jobs.fail(mine, "The model said no.")
    html = shown(alice, job)
    for text in ("first", "second", "lost", "began again", "The model said no.", "Do it again"):
        assert text in html
    assert reverse("session", args=[session.uuid]) in html
    assert 'hx-trigger="load' not in html.split('id="job"')[1].split(">")[0]


def test_a_long_log_shows_its_end(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.job_list.SHOWN_LINES", 2)
    job = made(alice)
    for number in range(4):
        jobs.note(job, f"line {number}")
    html = shown(alice, job)
    assert "line 1" not in html and html.index("line 2") < html.index("line 3")
    assert "Only the last 2 lines" in html


def test_a_job_that_waits_for_its_session_says_for_whom(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jobs.KINDS, "write", jobs.Kind("x.y", "write", alone=True))
    session = alice.imports(short_session().data())
    first, second = (made(alice, kind="write", session=session) for _ in range(2))
    jobs.claim(first.uuid)
    assert reverse("job", args=[first.uuid]) in shown(alice, second)


def test_what_jobs_hold_is_escaped(alice: Person) -> None:
    job = made(alice, title=HOSTILE, state="failed", error=HOSTILE)
    jobs.note(job, HOSTILE)
    for html in (listed(alice), shown(alice, job)):
        assert HOSTILE not in html and "&lt;script&gt;" in html


def test_only_the_part_that_changes_is_sent_to_htmx(alice: Person) -> None:
    job = made(alice)
    for target, url in (("jobs", reverse("jobs")), ("job", reverse("job", args=[job.uuid]))):
        answer = alice.client.get(url, headers={"HX-Request": "true", "HX-Target": target})
        assert b"<html" not in answer.content and job.title.encode() in (
            answer.content if target == "jobs" else answer.content + job.title.encode()
        )


def test_cancel_and_retry_by_button(alice: Person) -> None:
    job = made(alice)
    answer = alice.client.post(reverse("job-cancel", args=[job.uuid]), follow=True)
    assert b"Asked to cancel" in answer.content
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert b"has ended already" in alice.client.post(
        reverse("job-cancel", args=[job.uuid]), follow=True
    ).content  # fmt: skip
    alice.client.post(reverse("job-retry", args=[job.uuid]))
    job.refresh_from_db()
    assert job.state == "queued"
    answer = alice.client.post(reverse("job-retry", args=[job.uuid]), follow=True)
    assert b"Only a job that failed" in answer.content


def test_jobs_of_other_teams_are_not_there(alice: Person, bob: Person) -> None:
    job = made(alice, title="alice alone")
    assert "alice alone" not in listed(bob)
    assert bob.client.get(reverse("job", args=[job.uuid])).status_code == 404
    for name in ("job-cancel", "job-retry"):
        assert bob.client.post(reverse(name, args=[job.uuid])).status_code == 404
    job.refresh_from_db()
    assert job.state == "queued"


def test_other_methods_are_refused(alice: Person) -> None:
    job = made(alice)
    assert alice.client.post(reverse("jobs")).status_code == 405
    assert alice.client.post(reverse("job", args=[job.uuid])).status_code == 405
    assert alice.client.get(reverse("job-cancel", args=[job.uuid])).status_code == 405
    assert alice.client.get(reverse("job-retry", args=[job.uuid])).status_code == 405


def test_the_list_says_for_whom_too(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(jobs.KINDS, "write", jobs.Kind("x.y", "write", alone=True))
    session, other = (alice.imports(short_session(name).data()) for name in ("one", "two"))
    first, _, free = (made(alice, kind="write", session=s) for s in (session, session, other))
    jobs.claim(first.uuid)
    html = listed(alice)
    assert html.count("another job of this session") == 1
    assert html.count("waits for a worker") == 1 and free.state == "queued"


def test_a_worker_that_is_not_heard_of_is_not_called_running(alice: Person) -> None:
    """The list must not look as if somebody worked on it."""
    job = made(alice)
    jobs.claim(job.uuid, timezone.now() - timedelta(minutes=5), worker="gone")
    for html in (listed(alice), shown(alice, job)):
        assert "nothing is heard of its worker any more" in html


def test_each_worker_shows_how_many_of_the_jobs_it_does(alice: Person, bob: Person) -> None:
    WorkerHeartbeat.objects.create(name="worker@new", seen_at=timezone.now())
    for person in (alice, alice, bob):
        jobs.claim(made(person).uuid, worker="worker@new")
    assert "does 2 of these" in listed(alice) and "does 1 of these" in listed(bob)


def test_kinds_show_how_many_there_are(alice: Person, bob: Person) -> None:
    for person in (alice, alice, bob):
        made(person)
    assert ">import 2</a>" in listed(alice) and ">count tokens 0</a>" in listed(alice)


def test_what_was_made_is_one_click_away(alice: Person) -> None:
    record = "6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"
    done = {"state": "succeeded", "result": {"record": record, "summary": "9 to 3 tokens"}}
    html = shown(alice, made(alice, kind="compaction", **done))
    assert reverse("compaction-record", args=[record]) in html and "9 to 3 tokens" in html
    assert record not in shown(alice, made(alice, kind="import", **done))
