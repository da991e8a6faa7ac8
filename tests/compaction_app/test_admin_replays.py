"""Replays of one decision and of one compaction in the admin: by permission, whatever the team."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from compaction_app import compaction_replays, decisions, live_turns
from compaction_app.models import CompactionRecord, Decision
from sessions_app.models import Job, Session
from tests.admin_pages import HOSTILE, list_of, page_of, superuser, text_at
from tests.compaction_app.audited import audited
from tests.compaction_app.compacting import compacted, talk
from tests.compaction_app.live import answer, live_session, user
from tests.compaction_app.pages.test_turn import plain
from tests.compaction_app.test_decisions import a_decision, made
from tests.conftest import Person

FACTS = "The key file is /srv/app/config/settings.toml and the port is 10.0.0.7:8443. "


@pytest.fixture
def root(db: None) -> Client:
    """A superuser who is in no team."""
    return superuser()


@pytest.fixture
def record(alice: Person) -> CompactionRecord:
    session = live_session(alice)
    for number in range(4):
        text = f"Question {number}: {FACTS}" + "alpha beta " * 800
        live_turns.append(session, [user(text), answer(f"Answer {number}: {FACTS}", prompt=3_000)])
    compacted(session)
    return CompactionRecord.objects.get()


def page(row: Decision | CompactionRecord) -> str:
    kind = "decision" if isinstance(row, Decision) else "compaction"
    return reverse(f"admin:replay-{kind}", args=[row.pk])


def staff(client: Client, *names: str) -> Client:
    someone = User.objects.create_user("watcher", is_staff=True)
    someone.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(someone)
    return client


def test_a_decision_of_any_team_is_replayed_by_permission(root: Client, alice: Person) -> None:
    session = audited(alice.team, "growth-96k-dense")
    row = session.decisions.filter(stage="flush", fired=True).order_by("id")[0]
    assert root.get(f"/decisions/{row.uuid}/").status_code == 404
    for text in (
        text_at(root, list_of(Decision), {"q": str(row.uuid)}),
        text_at(root, page_of(row)),
    ):
        assert f'href="{page(row)}"' in text

    text = plain(text_at(root, page(row)))
    assert "74,244" in text
    assert "max(0, contextWindow - reserveTokensFloor - softThresholdTokens)" in text
    same = plain(text_at(root, page(row), {"replay": "1"}))
    assert "the same decision, byte for byte" in same
    query = {"replay": "1", "compaction.memoryFlush.softThresholdTokens": "0"}
    other = text_at(root, page(row), query)
    assert "the first difference is marked" in plain(other)
    assert other.count("first difference</span>") == 1
    assert "softThresholdTokens 4,000 first difference 0" in plain(other)


def test_to_view_is_not_to_replay(client: Client, record: CompactionRecord) -> None:
    row = record.session.decisions.order_by("id")[0]
    viewer = staff(client, "view_decision", "view_compactionrecord")

    assert "needs the permission" in text_at(viewer, page(row))
    assert viewer.get(page(row), {"replay": "1"}).status_code == 403
    assert viewer.get(page(record)).status_code == 403
    assert viewer.post(page(record), {"summariser": "extractive"}).status_code == 403
    assert not Job.objects.filter(kind=compaction_replays.KIND).exists()


def test_who_may_neither_view_nor_log_in_sees_nothing(
    client: Client, record: CompactionRecord, alice: Person
) -> None:
    row = record.session.decisions.order_by("id")[0]
    for address in (page(row), page(record)):
        assert alice.client.get(address).status_code == 302  # to the admin's login
        assert client.get(address).status_code == 302
    nobody = staff(client)
    for address in (page(row), page(record)):
        assert nobody.get(address).status_code == 403


def test_there_is_no_page_of_what_there_is_not(root: Client) -> None:
    for name in ("replay-decision", "replay-compaction"):
        assert root.get(reverse(f"admin:{name}", args=[4711])).status_code == 404


def test_bad_settings_are_told(root: Client, record: CompactionRecord) -> None:
    row = record.session.decisions.order_by("id")[0]
    for address in (page(row), page(record)):
        for bad in ({"rules": "x"}, {"contextWindow": "abc"}):
            text = text_at(root, address, {"replay": "1", **bad})
            assert 'class="errornote"' in text


def test_a_compaction_is_made_again_from_its_answers(
    root: Client, record: CompactionRecord
) -> None:
    text = text_at(root, page(record))
    assert "the same summary, byte for byte" in plain(text)
    assert "differs" not in text
    assert "summary 1: history, whole" in plain(text)
    assert '<mark title="paths">' in text or '<mark title="hosts with port">' in text
    assert text.count("anchors kept") == 2


def test_under_other_settings_it_is_cut_anew_and_new_answers_are_marked(
    root: Client, record: CompactionRecord
) -> None:
    text = text_at(root, page(record), {"compaction.keepRecentTokens": "4000"})
    assert "The summary without a model stands in for them" in plain(text)
    assert text.count("first difference</span>") == 1
    assert 'class="replay-tag">new' in text
    assert 'class="differs first"' in text


@pytest.mark.usefixtures("at_work")
def test_a_summary_is_made_anew_by_a_chosen_summariser_and_nothing_changes(
    root: Client, record: CompactionRecord, django_capture_on_commit_callbacks: object
) -> None:
    session = Session.objects.get()
    before = (list(session.windows.get().entries.values()), Decision.objects.count())
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        asked = root.post(page(record), {"summariser": "extractive"})
    job = Job.objects.get(kind=compaction_replays.KIND)
    assert job.state == Job.State.SUCCEEDED, job.error
    assert parse_qs(urlsplit(asked["Location"]).query)["job"] == [str(job.uuid)]

    text = text_at(root, asked["Location"])
    assert "The right column is a new summary by extractive" in plain(text)
    assert (list(session.windows.get().entries.values()), Decision.objects.count()) == before
    assert CompactionRecord.objects.count() == 1
    assert LogEntry.objects.get().change_message.startswith("A summary anew by extractive")
    refused = root.post(page(record), {"summariser": "nobody"}, follow=True)
    assert "There is no such summariser here." in refused.text
    assert Job.objects.filter(kind=compaction_replays.KIND).count() == 1


def test_a_record_without_what_it_was_made_on_says_so(
    root: Client, record: CompactionRecord
) -> None:
    CompactionRecord.objects.update(step=None)
    assert "it cannot be made again" in plain(text_at(root, page(record)))
    failed = root.post(page(record), {"summariser": "extractive"}, follow=True)
    assert "There is no such summariser here." in failed.text


def test_hostile_text_is_escaped(root: Client, alice: Person) -> None:
    session = live_session(alice)
    hostile = a_decision(reason=HOSTILE, inputs={HOSTILE: HOSTILE})
    decisions.record(session, [made(hostile)], reading=Decision.Reading.LIVE)
    text_at(root, page(session.decisions.get()), {"replay": "1"})
    talk(session, turns=3, words=700)
    compacted(session, instructions=HOSTILE)
    text_at(root, page(CompactionRecord.objects.get()))
