"""Records of compactions and flushes in the admin: read-only, each with the way to its page."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from compaction_app.models import CompactionRecord, FlushRecord
from sessions_app.models import Session, Window
from tests.admin_pages import (
    HOSTILE,
    costs_the_same,
    list_of,
    page_of,
    refuses_changes,
    superuser,
    text_at,
)
from tests.compaction_app.test_decisions import a_session

MODELS: tuple[Any, ...] = (CompactionRecord, FlushRecord)
ROW = {
    "trigger": "manual",
    "outcome": "failed",
    "reason": "summarised",
    "message": HOSTILE,
    "rule_set": "openclaw-2026.5.28",
    "calls": [{"answer": HOSTILE}],
}


@pytest.fixture
def root(db: None) -> Client:
    return superuser()


@pytest.fixture
def session(db: None) -> Session:
    session = a_session()
    Session.objects.filter(pk=session.pk).update(title=HOSTILE)
    Window.objects.create(session=session)
    return session


def a_record(model: Any, session: Session, cycle: int = 0) -> Any:
    return model.objects.create(
        team=session.team, session=session, window=session.windows.get(), cycle=cycle,
        started_at=timezone.now(), **ROW,
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_a_record_is_shown_and_cannot_be_changed(root: Client, session: Session, model: Any) -> None:  # fmt: skip
    row = a_record(model, session)
    assert text_at(root, page_of(row)).count("&lt;script&gt;") >= 2
    refuses_changes(root, row)


@pytest.mark.parametrize(("model", "address"), [(CompactionRecord, "compactions"), (FlushRecord, "flushes")])  # fmt: skip
def test_each_leads_to_its_page(root: Client, session: Session, model: Any, address: str) -> None:
    row = a_record(model, session)
    for page in (list_of(model), page_of(row)):
        assert f'href="/{address}/{row.uuid}/"' in text_at(root, page)


@pytest.mark.parametrize("model", MODELS)
def test_records_are_found_by_id_and_narrowed_down(root: Client, session: Session, model: Any) -> None:  # fmt: skip
    row = a_record(model, session)
    found = ({"q": str(row.uuid)}, {"q": str(session.uuid)}, {"q": str(session.team.uuid)})
    chosen = ({"outcome": "failed"}, {"reason": "summarised", "trigger": "manual"})
    for query in (*found, *chosen, {"rule_set": "openclaw-2026.5.28"}):
        assert str(row.uuid) in text_at(root, list_of(model), query)
    for query in ({"q": "1"}, {"outcome": "skipped"}, {"trigger": "budget"}, {"reason": HOSTILE}):
        assert str(row.uuid) not in text_at(root, list_of(model), query)


@pytest.mark.parametrize("model", MODELS)
def test_the_list_costs_as_many_queries_for_many_rows_as_for_few(root: Client, session: Session, model: Any) -> None:  # fmt: skip
    def add(count: int) -> None:
        for cycle in range(count):
            other = a_session()
            Window.objects.create(session=other)
            a_record(model, other, cycle)

    costs_the_same(root, model, add)
