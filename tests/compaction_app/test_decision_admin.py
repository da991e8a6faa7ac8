"""Decisions in the admin: found by id, never changed, never counted."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app import decisions
from compaction_app.decision_codes import OUTCOMES, REASONS, RULES
from compaction_app.engine.simulation.audit import audit
from compaction_app.models import Decision as Row
from tests.compaction_app.test_decisions import a_decision, a_session, made
from tests.golden import runs

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


def test_a_decision_leads_to_its_page(owner: Client, row: Row) -> None:
    for page in (LIST, f"{LIST}{row.pk}/change/"):
        assert f'href="/decisions/{row.uuid}/"' in owner.get(page).text


def test_the_list_is_narrowed_down_by_what_is_indexed(owner: Client, row: Row) -> None:
    found = (
        {"rule": "flush"},
        {"outcome": "skip"},
        {"reason": "below_threshold", "reading": "audit"},
    )
    for query in (*found, {"rule_set": row.rule_set}, {"created_at__gte": "2020-01-01T00:00Z"}):
        assert str(row.uuid) in owner.get(LIST, query).text
    for query in ({"rule": "memory_flush"}, {"outcome": "<script>"}, {"created_at__lt": "2020-01-01T00:00Z"}):  # fmt: skip
        page = owner.get(LIST, query).text
        assert str(row.uuid) not in page
        assert "<script>" not in page.replace("<script src", "")


def test_a_chosen_filter_keeps_the_others(owner: Client, row: Row) -> None:
    page = owner.get(LIST, {"outcome": "skip", "q": str(row.uuid)}).text

    assert '<option value="skip" selected>' in page
    assert '<input type="hidden" name="outcome" value="skip">' in page
    assert f'<input type="hidden" name="q" value="{row.uuid}">' in page


def test_a_stretch_of_dates_is_read_in_the_order_of_its_index(owner: Client, row: Row) -> None:
    with CaptureQueriesContext(connection) as queries:
        owner.get(LIST, {"created_at__gte": "2020-01-01T00:00Z"})
    listed = [q["sql"] for q in queries if "compaction_app_decision" in q["sql"]]
    assert any('ORDER BY "compaction_app_decision"."created_at" DESC' in sql for sql in listed)


def test_hostile_text_in_a_decision_is_escaped(owner: Client) -> None:
    hostile = a_decision(reason="<script>alert(1)</script>", inputs={"<script>alert(1)": 1})
    decisions.record(a_session(), [made(hostile)], reading=Row.Reading.AUDIT)
    for page in (LIST, f"{LIST}{Row.objects.get().pk}/change/"):
        text = owner.get(page).text
        assert "&lt;script&gt;alert(1)" in text
        assert "<script>alert(1)" not in text


@pytest.mark.parametrize("name", runs.NAMES)
def test_the_filters_know_the_codes_of_the_recorded_runs(name: str) -> None:
    turns = [done.turn for run in runs.replayed(name) for done in audit(run.inputs)]
    assert turns
    for stage in (stage for turn in turns for stage in turn.result.stages):
        assert stage.decision.rule in RULES
        assert stage.decision.outcome in OUTCOMES
        assert stage.decision.reason in REASONS
