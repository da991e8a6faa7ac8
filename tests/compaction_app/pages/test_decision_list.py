"""The decisions of a session, filtered."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session, Team
from tests.compaction_app.audited import audited
from tests.compaction_app.pages.test_turn import plain


@pytest.fixture
def session(team: Team) -> Session:
    return audited(team)


def rows(viewer: Client, session: Session, query: str = "") -> int:
    return viewer.get(f"/sessions/{session.uuid}/decisions/?{query}").text.count(
        'href="/decisions/'
    )


def test_all_are_listed_in_pages(viewer: Client, session: Session) -> None:
    total = session.decisions.count()

    assert rows(viewer, session) == 100
    assert rows(viewer, session, "page=3") == total - 200
    text = plain(viewer.get(f"/sessions/{session.uuid}/decisions/").text)
    assert f"1 to 100 of {total}" in text
    assert "audit" in text


def test_each_filter_leaves_what_it_names(viewer: Client, session: Session) -> None:
    for query in (
        {"stage": "flush"},
        {"outcome": "flush"},
        {"reason": "below_threshold", "stage": "preflight"},
    ):
        wanted = session.decisions.filter(**query).count()
        assert wanted
        text = "&".join(f"{name}={value}" for name, value in query.items())

        assert rows(viewer, session, text) == min(wanted, 100)


def test_what_fired_can_be_seen_alone(viewer: Client, session: Session) -> None:
    assert rows(viewer, session, "fired=1") == session.decisions.filter(fired=True).count()
    assert rows(viewer, session, "fired=1&stage=flush") == 1


def test_nonsense_is_no_error(viewer: Client, session: Session) -> None:
    for query in ("stage=nope", "page=999&outcome=%00", "fired=2", "page=x"):
        assert viewer.get(f"/sessions/{session.uuid}/decisions/?{query}").status_code == 200


def test_a_page_takes_the_same_queries_whatever_there_is(viewer: Client, session: Session) -> None:
    def count(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            viewer.get(f"/sessions/{session.uuid}/decisions/?{query}")
        return len(queries)

    count("")
    assert count("") == count("stage=flush&fired=1") <= 8
