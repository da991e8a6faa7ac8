"""Decisions in the admin: found by id, never changed, never counted."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app import decisions
from compaction_app.models import Decision as Row
from tests.compaction_app.test_decisions import a_decision, a_session, made

LIST = "/admin/compaction_app/decision/"


@pytest.fixture
def owner(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


@pytest.fixture
def row(db: None) -> Row:
    decisions.record(a_session(), [made(a_decision())], reading=Row.Reading.AUDIT)
    return Row.objects.get()


def test_a_decision_is_shown_and_cannot_be_changed(owner: Client, row: Row) -> None:
    page = owner.get(f"{LIST}{row.pk}/change/")

    assert page.status_code == 200
    assert "below_threshold" in page.text
    assert 'name="_save"' not in page.text
    assert owner.post(f"{LIST}{row.pk}/change/", {"outcome": "flush"}).status_code == 403
    assert owner.post(f"{LIST}add/", {}).status_code == 403
    assert owner.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_it_is_found_by_its_id_or_its_sessions(owner: Client, row: Row) -> None:
    for wanted in (row.uuid, row.session.uuid):
        assert str(row.uuid) in owner.get(LIST, {"q": str(wanted)}).text
    for unwanted in (uuid4(), "skip"):
        assert str(row.uuid) not in owner.get(LIST, {"q": str(unwanted)}).text


def test_the_list_needs_as_many_queries_for_many_as_for_one(owner: Client, row: Row) -> None:
    owner.get(LIST)
    with CaptureQueriesContext(connection) as few:
        owner.get(LIST)
    decisions.record(row.session, [made(a_decision())] * 300, reading=Row.Reading.AUDIT)
    with CaptureQueriesContext(connection) as many:
        page = owner.get(LIST)

    assert page.text.count('class="action-select"') <= 100
    assert len(many) == len(few)
    assert all("LIMIT" in q["sql"] for q in many if "compaction_app_decision" in q["sql"])


def test_nobody_else_sees_it(client: Client, row: Row) -> None:
    client.force_login(User.objects.create_user("member"))

    assert client.get(LIST).status_code == 302
