"""Jobs in the admin: found by id, read-only, cancelled and asked for again through the functions for it."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from sessions_app.models import Job, JobLine, Session
from tests.admin_pages import (
    HOSTILE,
    costs_the_same,
    list_of,
    page_of,
    refuses_changes,
    superuser,
    text_at,
)
from tests.conftest import Person


@pytest.fixture
def root(db: None) -> Client:
    return superuser()


@pytest.fixture
def job(alice: Person) -> Job:
    session = Session.objects.create(team=alice.team, title=HOSTILE)
    job = Job.objects.create(
        team=alice.team, session=session, kind="import", title=HOSTILE, arguments={"name": HOSTILE}
    )
    JobLine.objects.create(job=job, text=HOSTILE)
    return job


def act(client: Client, action: str, job: Job) -> Job:
    client.post(list_of(Job), {"action": action, "_selected_action": [job.pk]})
    job.refresh_from_db()
    return job


def test_a_job_is_shown_with_its_log_and_cannot_be_changed(root: Client, job: Job) -> None:
    assert text_at(root, page_of(job)).count("&lt;script&gt;") >= 3
    refuses_changes(root, job)


def test_a_job_is_found_by_its_id_its_sessions_or_its_teams(root: Client, job: Job) -> None:
    assert job.session is not None
    for wanted in (job.uuid, job.session.uuid, job.team.uuid):
        assert str(job.uuid) in text_at(root, list_of(Job), {"q": str(wanted)})


def test_the_filter_of_kinds_has_those_of_both_floors(root: Client, job: Job) -> None:
    page = text_at(root, list_of(Job))
    assert '<option value="import"' in page
    assert '<option value="compaction"' in page
    assert str(job.uuid) in text_at(root, list_of(Job), {"kind": "import", "state": "queued"})
    assert str(job.uuid) not in text_at(root, list_of(Job), {"kind": "compaction"})


def test_jobs_are_cancelled_and_done_again_and_that_is_logged(root: Client, job: Job) -> None:
    assert act(root, "cancel", job).state == Job.State.CANCELLED
    assert act(root, "retry", job).state == Job.State.QUEUED
    assert act(root, "retry", job).state == Job.State.QUEUED
    said = LogEntry.objects.filter(object_id=str(job.pk)).order_by("pk")
    assert [entry.change_message for entry in said] == ["Cancelled.", "Asked for again."]


def test_who_may_only_look_at_jobs_cancels_none(job: Job, client: Client) -> None:
    user = User.objects.create_user("watcher", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_job"))
    client.force_login(user)
    assert str(job.uuid) in text_at(client, list_of(Job))
    assert act(client, "cancel", job).state == Job.State.QUEUED


def test_the_list_costs_as_many_queries_for_many_rows_as_for_few(root: Client, job: Job) -> None:
    def add(count: int) -> None:
        for n in range(count):
            Job.objects.create(team=job.team, kind="import", title=str(n))

    costs_the_same(root, Job, add)
