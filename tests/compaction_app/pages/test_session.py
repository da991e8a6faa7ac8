"""The session page: who may see it and what it shows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.models import Membership, Session, Team
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import HOSTILE, RESULT, WORK, Page, address, rows
from tests.engine.builders import Script, chat

pytestmark = pytest.mark.django_db


# Who may see it


def test_a_stranger_is_sent_to_the_login(client: Client, session: Session) -> None:
    answer = client.get(address(session))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/")


def test_another_teams_session_is_not_there(viewer: Client, bring: Bring) -> None:
    theirs = bring(chat(3), owner=Team.objects.create(name="theirs"))
    answer = viewer.get(address(theirs))
    assert answer.status_code == 404
    assert b"mock" not in answer.content


def test_a_user_without_a_team_sees_nothing(client: Client, session: Session) -> None:
    client.force_login(User.objects.create_user("lonely"))
    assert client.get(address(session)).status_code == 404


def test_a_second_team_may_be_ones_own_too(
    viewer: Client, bring: Bring, django_user_model: Any
) -> None:
    second = Team.objects.create(name="second")
    Membership.objects.create(team=second, user=django_user_model.objects.get(username="member"))
    assert viewer.get(address(bring(chat(3), owner=second))).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_page_is_only_read(viewer: Client, session: Session, method: str) -> None:
    assert getattr(viewer, method)(address(session)).status_code == 405


@pytest.mark.parametrize("path", ["not-a-uuid", "1", "00000000-0000-0000-0000-00000000000"])
def test_what_is_no_uuid_is_no_session(viewer: Client, path: str) -> None:
    assert viewer.get(f"/sessions/{path}/").status_code == 404


# What it shows


def test_the_page_shows_lines_differences_and_knobs(viewer: Client, session: Session) -> None:
    answer = viewer.get(address(session))
    page = Page(answer)
    assert {
        "result",
        "tuning",
        "differences",
        "lines",
        "entries",
        "verdict",
        "actions",
    } <= page.ids()
    assert page.line("flush")["data-tokens"] == "8000"
    assert page.line("pre_prompt")["data-tokens"] == "12000"
    assert page.field("compaction.keepRecentTokens")["value"] == "2000"
    assert page.field("contextWindow")["value"] == "32000"
    table = rows(answer)
    assert table["compactions"][0] == "0"
    assert table["compactions"][1] == table["compactions"][2] != "0"


def test_a_knob_changes_the_what_if_and_nothing_else(viewer: Client, session: Session) -> None:
    before = rows(viewer.get(address(session)))
    answer = viewer.get(address(session, contextWindow=200_000))
    after = rows(answer)
    assert [cells[:2] for cells in after.values()] == [cells[:2] for cells in before.values()]
    assert after["compactions"][2] == "0"
    assert '<th scope="row">flush line</th><td class="n">176,000</td>' in answer.content.decode()


@pytest.mark.parametrize("target", [{}, RESULT, WORK])
def test_unknown_parameters_are_ignored(
    viewer: Client, session: Session, target: dict[str, str]
) -> None:
    query = {"utm_source": "mail", "compaction.unknown": "1", "__proto__": "x"}
    plain = viewer.get(address(session), headers=target)
    odd = viewer.get(address(session, **query, preset="nope"), headers=target)
    assert odd.status_code == 200
    assert rows(odd) == rows(plain)
    assert b'role="alert"' not in odd.content


@pytest.mark.parametrize(("name", "known"), [("rules", "openclaw-2026.5.28"), ("path", "chat")])
def test_an_unknown_version_or_path_is_told_with_those_there_are(
    viewer: Client, session: Session, name: str, known: str
) -> None:
    plain, odd = viewer.get(address(session)), viewer.get(address(session, **{name: "nope"}))
    assert rows(odd) == rows(plain)
    said = odd.content.decode()
    assert f"{name}: there is no &#x27;nope&#x27;" in said and known in said


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("compaction.reserveTokens", "-5", "out of range"),
        ("compaction.keepRecentTokens", "0", "out of range"),
        ("contextWindow", "wide", "is not a number"),
        ("compaction.maxHistoryShare", "7", "out of range"),
        ("compaction.mode", HOSTILE, "is not known"),
    ],
)
def test_a_refused_value_is_told_and_the_setting_stays(
    viewer: Client, session: Session, key: str, value: str, says: str
) -> None:
    answer = viewer.get(address(session, **{key: value}))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert says in text and 'class="refused"' in text
    assert HOSTILE not in text
    assert rows(answer) == rows(viewer.get(address(session)))
    moved = viewer.get(address(session, **{key: value}), headers=RESULT)
    assert moved["HX-Replace-Url"] == "?"


EXTREMES = (
    {"contextWindow": "1e300"},
    {"contextWindow": "9" * 400},
    {"contextWindow": "0.25"},
    {"contextTokens": "1"},
    {"compaction.reserveTokens": "1e18", "compaction.reserveTokensFloor": "1e18"},
    {"compaction.memoryFlush.softThresholdTokens": "1e18"},
    {"compaction.keepRecentTokens": "1e18"},
    {"maxTokens": "0.001"},
    {"from": "99999999999", "to": "1"},
    {"from": "-1", "to": "x"},
    {"from": "5", "to": "5"},
    {"from": "20", "to": "3"},
    {"leaf": "999999999"},
    {"leaf": "0"},
    {"leaf": "-1"},
    {"provider": "x" * 5_000},
    {"provider": "\x00"},
    {"compaction.model": "y" * 5_000},
)


def test_extreme_values_are_survived(viewer: Client, session: Session) -> None:
    for query in EXTREMES:
        for target in (RESULT, WORK):
            assert viewer.get(address(session, **query), headers=target).status_code == 200, query


def test_a_session_without_calls_says_so(viewer: Client, bring: Bring) -> None:
    answer = viewer.get(address(bring(Script().user())))
    assert answer.status_code == 200
    assert b"holds no model call yet" in answer.content
    assert b"peak <b>unknown</b>" in answer.content
    assert b">estimated</span>" not in answer.content


def test_without_usage_the_estimate_is_shown_and_marked(viewer: Client, bring: Bring) -> None:
    script = Script()
    for _ in range(6):
        script.user().answer(2_000)
    answer = viewer.get(address(bring(script)))
    text = answer.content.decode()
    assert "no usage reported: estimated" in text
    assert '<span class="tag info">estimated</span>' in text
    assert "USAGE_MISSING" in text
    assert "not enough data" in text


def test_a_range_of_calls_is_charted_alone(viewer: Client, session: Session) -> None:
    answer = viewer.get(address(session, **{"from": 5, "to": 9}), headers=RESULT)
    (figure,) = [f for f in Page(answer).named("figure") if f["class"] == "growth"]
    assert (figure["data-first"], figure["data-last"]) == ("5", "9")
    readout = json.loads(
        re.search(r'class="series">(.*?)</script>', answer.content.decode()).group(1)  # type: ignore[union-attr]
    )
    assert readout["calls"] == [5, 6, 7, 8, 9]
    assert answer["HX-Replace-Url"] == "?from=5&to=9"
    assert "calls 5 to 9: show all 30" in answer.content.decode()


def test_another_branch_can_be_chosen(viewer: Client, bring: Bring) -> None:
    script = chat(6)
    script.entries.append({**script.entries[-1], "id": "other", "parentId": "e4"})
    session = bring(script)
    shown = Page(viewer.get(address(session)))
    links = [a for a in shown.named("a") if "leaf=11" in a.get("href", "")]
    assert len(links) == 1
    answer = viewer.get(address(session, leaf=11), headers=WORK)
    assert b"<b>6</b> model calls" in answer.content
    assert b"<b>3</b> model calls" in viewer.get(address(session), headers=WORK).content
