"""The size of simulated summaries: told on the session page, and chosen in the tuning panel."""

from __future__ import annotations

import pytest
from django.test import Client

from compaction_app.forms import query_of, read_query
from compaction_app.runs import situation_of
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG, RESULT, Page, address
from tests.engine.builders import chat

pytestmark = pytest.mark.django_db


def test_the_page_says_how_large_simulated_summaries_are_and_why(
    viewer: Client, bring: Bring
) -> None:
    session = bring(chat(60), CONFIG)
    text = viewer.get(address(session)).text
    assert "size from: the summariser without a model" in text
    assert Page(viewer.get(address(session))).field("summaryTokens")["value"] == ""


def test_recorded_compactions_give_the_size(viewer: Client, bring: Bring) -> None:
    session = bring(chat(60).compaction("e40", "s" * 2_000).user().answer(), CONFIG)
    text = viewer.get(address(session)).text
    assert "have 500 estimated tokens; size from: the session’s own compactions" in text


def test_a_chosen_size_moves_the_curve_and_stays_in_the_address(
    viewer: Client, bring: Bring
) -> None:
    session = bring(chat(60), CONFIG)
    answer = viewer.get(address(session, summaryTokens=3_210), headers=RESULT)
    assert "have 3,210 estimated tokens; size from: chosen here" in answer.text
    assert answer.headers["HX-Replace-Url"] == "?summaryTokens=3210"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("summary", "short"),
        ("summaryTokens", "0"),
        ("summaryTokens", "-1"),
        ("summaryTokens", "many"),
    ],
)
def test_a_choice_that_is_none_is_refused_with_what_is_possible(
    viewer: Client, bring: Bring, name: str, value: str
) -> None:
    session = bring(chat(6), CONFIG)
    answer = viewer.get(address(session, **{name: value}))
    assert answer.status_code == 200
    assert f"{name}: " in answer.text.split('class="refused"')[1]


def test_a_choice_survives_reading_and_writing_the_address(bring: Bring) -> None:
    situation = situation_of(bring(chat(6), CONFIG))
    query = read_query({"summary": "cap", "summaryTokens": "900"}, situation)
    assert query_of(query, situation) == "summary=cap&summaryTokens=900"
