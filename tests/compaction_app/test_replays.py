"""Replaying a selection in the admin: a job, its verdicts, a table to take along."""

from __future__ import annotations

import csv
import io
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client

from compaction_app import decisions, live_turns, replays
from compaction_app.models import Decision
from sessions_app.models import Job
from tests.admin_pages import list_of, superuser, text_at
from tests.compaction_app.audited import audited
from tests.compaction_app.compacting import compacted, talk
from tests.compaction_app.live import answer, live_session, user
from tests.compaction_app.test_decisions import a_decision, a_session, made
from tests.conftest import Person

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.fixture
def root(db: None) -> Client:
    return superuser()


def replay(client: Client, rows: list[Decision], capture: object) -> Job:
    with capture(execute=True):  # type: ignore[operator]
        answer = client.post(
            list_of(Decision), {"action": "replay", "_selected_action": [row.pk for row in rows]}
        )
    job = Job.objects.get(kind=replays.KIND)
    assert answer["Location"] == f"/admin/compaction_app/decision/replays/{job.uuid}/"
    return job


def test_every_decision_of_a_recorded_run_agrees(
    root: Client, alice: Person, django_capture_on_commit_callbacks: object
) -> None:
    audited(alice.team)
    rows = list(Decision.objects.all()[:60])
    job = replay(root, rows, django_capture_on_commit_callbacks)

    assert job.state == Job.State.SUCCEEDED
    assert job.result["counts"]["agrees"] == len(rows) == job.done
    page = text_at(root, f"{list_of(Decision)}replays/{job.uuid}/")
    assert f"{len(rows)} of {len(rows)} decisions" in page
    table = text_at(root, f"{list_of(Decision)}replays/{job.uuid}.csv")
    told = list(csv.DictReader(io.StringIO(table)))
    assert {row["decision"] for row in told} == {str(row.uuid) for row in rows}
    assert {row["verdict"] for row in told} == {"agrees"}


def test_an_edited_decision_is_found(
    root: Client, alice: Person, django_capture_on_commit_callbacks: object
) -> None:
    audited(alice.team)
    rows = list(Decision.objects.all()[:10])
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE compaction_app_decision SET outcome = 'edited' WHERE id = %s", [rows[3].pk]
        )
    job = replay(root, rows, django_capture_on_commit_callbacks)

    assert job.result["counts"] == {
        "agrees": 9, "differs": 1, "configuration changed": 0, "not replayable": 0,
    }  # fmt: skip
    page = text_at(root, f"{list_of(Decision)}replays/{job.uuid}/")
    assert f'href="{list_of(Decision)}{rows[3].pk}/replay/?replay=1"' in page


def test_live_decisions_agree_too(
    root: Client, alice: Person, django_capture_on_commit_callbacks: object
) -> None:
    session = live_session(alice)
    talk(session, turns=2)
    live_turns.report_call(session, [user("And?"), answer("yes", prompt=9_000)])
    compacted(session)
    rows = list(session.decisions.order_by("id"))
    assert len({row.stage for row in rows}) > 4
    job = replay(root, rows, django_capture_on_commit_callbacks)

    assert job.result["counts"]["agrees"] == len(rows)
    entry = LogEntry.objects.get(object_id=job.pk)
    assert entry.change_message == f"Replay of {len(rows):,} decisions."


def test_what_no_turn_is_kept_of_is_said_to_be_not_replayable(
    root: Client, django_capture_on_commit_callbacks: object
) -> None:
    decisions.record(a_session(), [made(a_decision())], reading=Decision.Reading.LIVE)
    job = replay(root, [Decision.objects.get()], django_capture_on_commit_callbacks)
    assert job.result["counts"]["not replayable"] == 1


def test_to_view_decisions_is_not_to_replay_them(client: Client, root: Client) -> None:
    decisions.record(a_session(), [made(a_decision())], reading=Decision.Reading.AUDIT)
    row = Decision.objects.get()
    user = User.objects.create_user("watcher", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_decision"))
    client.force_login(user)

    assert "Replay the selected" not in text_at(client, list_of(Decision))
    client.post(list_of(Decision), {"action": "replay", "_selected_action": [row.pk]})
    assert not Job.objects.exists()
    for ending in ("/", ".csv"):
        address = f"{list_of(Decision)}replays/{uuid4()}{ending}"
        assert client.get(address).status_code == 403
        assert root.get(address).status_code == 404


def test_a_selection_over_the_limit_is_refused(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MOST", 2)
    decisions.record(a_session(), [made(a_decision())] * 3, reading=Decision.Reading.AUDIT)
    chosen = [row.pk for row in Decision.objects.all()]
    asked = {"action": "replay", "_selected_action": chosen}
    assert "At most 2 at once." in root.post(list_of(Decision), asked, follow=True).text
    assert not Job.objects.exists()
