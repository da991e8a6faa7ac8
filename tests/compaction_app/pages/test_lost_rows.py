"""What compactions lose, in the difference table."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from compaction_app.lost import ledger_of
from sessions_app.entries import window_of
from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.forgetful import RULES, forgetful
from tests.compaction_app.pages.page import CONFIG, RESULT, address, rows
from tests.engine.builders import Script, chat

HTMX = {"HX-Request": "true"}


def ruled(turns: int = 30) -> Script:
    """A long chat that begins with rules and goes on with identifiers."""
    script = Script().user(" ".join(RULES)).answer(400, prompt=900)
    for n in range(turns):
        script.user(f"Look at src/part_{n}/main.py, please. " + "u" * 4_000)
        script.answer(2_000, prompt=900 + 1_700 * n)
    return script


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(ruled(), CONFIG)


def what_if(client: Client, session: Session, query: str = "", htmx: bool = True) -> str:
    answer = client.get(
        f"/sessions/{session.uuid}/lost/what-if/{query}", headers=HTMX if htmx else {}
    )
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_asks_for_the_rows_until_the_texts_were_read(
    viewer: Client, session: Session
) -> None:
    first = viewer.get(address(session)).content.decode()
    assert f"/sessions/{session.uuid}/lost/what-if/" in first and "not counted yet" in first
    told = what_if(viewer, session)
    assert 'data-row="anchors lost"' in told and 'data-row="constraints lost"' in told
    again = viewer.get(address(session))
    assert "not counted yet" not in again.content.decode()
    assert rows(again)["anchors lost"][0] == "0 of 0"  # type: ignore[arg-type]


def test_a_moved_knob_changes_them(viewer: Client, session: Session) -> None:
    ledger_of(window_of(session))
    few, many = (
        rows(viewer.get(address(session, **{"compaction.keepRecentTokens": keep}), headers=RESULT))  # type: ignore[arg-type]
        for keep in (500, 12_000)
    )
    assert few["anchors lost"][1] == many["anchors lost"][1]
    assert few["anchors lost"][2] != many["anchors lost"][2]


def test_the_recorded_column_goes_by_the_recorded_summaries(viewer: Client, bring: Bring) -> None:
    session = bring(forgetful())
    ledger_of(window_of(session))
    table = rows(viewer.get(address(session)))  # type: ignore[arg-type]
    assert table["constraints lost"][0] == "3 of 3"
    assert table["anchors lost"][1] == "0 of 0"


def test_a_session_that_is_never_compacted_has_no_such_rows(viewer: Client, bring: Bring) -> None:
    shown = viewer.get(address(bring(chat(3)))).content.decode()
    assert "anchors lost" not in shown


def test_without_scripts_the_link_counts_and_leads_back(viewer: Client, session: Session) -> None:
    answer = viewer.get(f"/sessions/{session.uuid}/lost/what-if/?compaction.keepRecentTokens=500")
    assert answer.status_code == 302
    assert answer["Location"].startswith(f"/sessions/{session.uuid}/?")
    assert "anchors lost" in rows(viewer.get(answer["Location"].partition("#")[0]))  # type: ignore[arg-type]


def test_another_teams_session_is_not_there(client: Client, session: Session) -> None:
    client.force_login(User.objects.create_user("stranger"))
    assert client.get(f"/sessions/{session.uuid}/lost/what-if/").status_code == 404


def test_nothing_can_be_posted(viewer: Client, session: Session) -> None:
    assert viewer.post(f"/sessions/{session.uuid}/lost/what-if/").status_code == 405


def test_a_value_that_is_none_is_passed_over(viewer: Client, session: Session) -> None:
    assert "anchors lost" in what_if(viewer, session, "?compaction.keepRecentTokens=many&leaf=x")


@pytest.mark.parametrize("compactions", [1, 2])
def test_the_recorded_column_counts_what_the_list_counts(
    viewer: Client, bring: Bring, compactions: int
) -> None:
    script = forgetful()
    if compactions == 1:
        places = [n for n, entry in enumerate(script.entries) if entry["type"] == "compaction"]
        del script.entries[places[1] :]
    session = bring(script)
    ledger_of(window_of(session))
    told = rows(viewer.get(address(session)))["anchors lost"][0]  # type: ignore[arg-type]
    lost, found = told.split(" of ")
    page = viewer.get(f"/sessions/{session.uuid}/lost/").content.decode()
    wanted = f"<b>{lost}</b> of {found} anchors"
    assert (f"together lost {wanted}" if compactions == 2 else wanted) in page
