"""Policies compared: up to four on one session, one on many sessions."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app.comparison_query import comparison_query, joined_query, split_query
from sessions_app.models import Session, Team
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG
from tests.compaction_app.pages.test_turn import plain
from tests.conftest import Person
from tests.engine.builders import Script, chat

FLOOR = "compaction.reserveTokensFloor"
HOSTILE = "<script>alert(1)</script>"


def path(session: Session, query: str = "") -> str:
    return f"/sessions/{session.uuid}/compare/?{query}"


def test_a_comparison_reads_as_it_is_written() -> None:
    policies = [{}, {FLOOR: "40000", "rules": "openclaw-2026.3"}, {"preset": "small-window"}]

    address = joined_query(policies)

    pairs = [pair.split("=") for pair in address.split("&")]
    assert split_query(dict(pairs)) == policies
    assert split_query({"5.rules": "x", "rules": "y", "1.": "", "x.rules": "z"}) == [{}]
    assert comparison_query("") == "1.rules="
    assert comparison_query(f"{FLOOR}=40000") == f"1.rules=&2.{FLOOR}=40000"


def test_four_policies_have_a_curve_and_a_column_each(viewer: Client, session: Session) -> None:
    query = f"1.rules=&2.{FLOOR}=8000&3.preset=small-window&4.rules=openclaw-2026.3"

    page = viewer.get(path(session, query))

    assert page.status_code == 200
    text = plain(page.text)
    assert "Policies compared what-if decisions take effect" in text
    assert "recorded 1: own settings 2: reserveTokensFloor 8,000 3: Small window 4: 2026.3" in text
    for number in range(1, 5):
        assert f'<path class="curve p{number}" d="M' in page.text
    assert page.text.count("tune it") == 4
    assert "one more policy" not in text


def test_without_a_policy_the_sessions_own_stands_alone(viewer: Client, session: Session) -> None:
    page = viewer.get(path(session))

    assert "recorded 1: own settings memory flushes" in plain(page.text)
    assert "one more policy" in page.text
    assert "one fewer" not in page.text


def test_the_figures_are_those_of_the_session_page(viewer: Client, session: Session) -> None:
    compared = plain(viewer.get(path(session, f"1.rules=&2.{FLOOR}=8000")).text)
    tuned = plain(viewer.get(f"/sessions/{session.uuid}/?{FLOOR}=8000").text)

    recorded, own, what_if = tuned.split("tokens sent ")[1].split()[:3]
    assert f"tokens sent {recorded} {own} {what_if}" in compared


def test_a_range_of_calls_can_be_shown(viewer: Client, session: Session) -> None:
    page = viewer.get(path(session, "1.rules=&from=3&to=9"))

    assert 'data-first="3" data-last="9"' in page.text
    assert viewer.get(path(session, "1.rules=&from=x&to=9")).status_code == 200


def test_bad_values_are_told_and_left_out(viewer: Client, session: Session) -> None:
    page = viewer.get(path(session, f"1.rules=nope&2.{FLOOR}=-1&3.contextWindow={HOSTILE}"))

    assert page.status_code == 200
    assert page.text.count('class="refused" role="alert"') == 3
    assert "<script>alert" not in page.text


def test_a_session_without_calls_says_so(viewer: Client, bring: Bring) -> None:
    page = viewer.get(path(bring(Script().user("Hi"))))

    assert "no model call yet, so there is nothing to compare" in plain(page.text)


def test_a_what_if_leads_to_its_comparison(viewer: Client, session: Session) -> None:
    page = viewer.get(f"/sessions/{session.uuid}/?{FLOOR}=8000")

    assert f'/compare/?1.rules=&amp;2.{FLOOR}=8000"' in page.text


def test_one_policy_on_many_sessions_has_totals(viewer: Client, bring: Bring) -> None:
    for number in range(3):
        bring(chat(24, user_chars=400 + number), CONFIG, name=f"s{number}")

    own = plain(viewer.get("/compare/").text)
    tried = plain(viewer.get(f"/compare/?{FLOOR}=8000").text)

    assert "3 sessions together" in own
    assert "→" not in own.split("tokens sent")[1]
    assert "→" in tried.split("3 sessions together")[1]
    totals = [int(word.replace(",", "")) for word in own.split("3 sessions together")[1].split()[:5]]  # fmt: skip
    rows = own.split("tokens sent")[1].split("3 sessions together")[0].split()
    figures = [int(word.replace(",", "")) for word in rows if "," in word]
    assert totals[4] == sum(figures[::2]), "tokens sent, then those sent again"


def test_a_search_narrows_the_sessions(viewer: Client, bring: Bring) -> None:
    bring(chat(6), CONFIG, name="apple")
    bring(chat(6, user_chars=500), CONFIG, name="pear")

    assert "1 session together" in plain(viewer.get("/compare/?q=pear").text)
    assert "No session is found by that" in viewer.get("/compare/?q=plum").text


def test_there_may_be_no_session_at_all(viewer: Client) -> None:
    assert "There is no session yet" in viewer.get("/compare/").text


def test_many_sessions_are_cut_off_and_it_is_said(
    viewer: Client, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compaction_app import comparison_of_sessions

    monkeypatch.setattr(comparison_of_sessions, "MOST_ENTRIES", 13)
    bring(chat(6), CONFIG, name="one")
    bring(chat(6, user_chars=500), CONFIG, name="two")

    text = plain(viewer.get("/compare/").text)

    assert "1 session together" in text
    assert "More sessions than are shown here" in text


def test_other_teams_and_strangers_see_nothing(
    bob: Person, client: Client, bring: Bring, team: Team
) -> None:
    session = bring(chat(6), CONFIG)

    assert bob.client.get(path(session)).status_code == 404
    assert bob.client.get(f"/sessions/{uuid4()}/compare/").status_code == 404
    assert "There is no session yet" in bob.client.get("/compare/").text
    assert client.get(path(session)).status_code == client.get("/compare/").status_code == 302


def test_only_reading_is_possible(viewer: Client, session: Session) -> None:
    assert viewer.post(path(session)).status_code == 405
    assert viewer.post("/compare/").status_code == 405


def test_a_second_look_needs_no_more_queries_for_more_policies(
    viewer: Client, session: Session
) -> None:
    def count(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            viewer.get(path(session, query))
        return len(queries)

    count("1.rules=")
    assert count("1.rules=") == count(f"1.rules=&2.{FLOOR}=8000&3.{FLOOR}=9000")
