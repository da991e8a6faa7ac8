"""The session page: who may see it, what it shows, what a move of a knob answers and costs."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Entry, Membership, Session, Team
from tests.compaction_app.conftest import Bring
from tests.engine.builders import Script, chat

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
CONFIG: dict[str, Any] = {
    "models": {
        "providers": {
            "mock": {
                "baseUrl": "http://127.0.0.1/v1",
                "models": [{"id": "m", "name": "m", "contextWindow": 32_000}],
            }
        }
    },
    "agents": {"defaults": {"compaction": {"keepRecentTokens": 2_000}}},
}
RESULT = {"HX-Request": "true", "HX-Target": "result"}
WORK = {"HX-Request": "true", "HX-Target": "work"}


class Page(HTMLParser):
    """What a page consists of: elements with their attributes, and ids."""

    def __init__(self, answer: HttpResponse) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(answer.content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if "id" in attributes}

    def field(self, name: str) -> dict[str, str]:
        return next(
            a for t, a in self.elements if t in ("input", "select") and a.get("name") == name
        )

    def line(self, name: str) -> dict[str, str]:
        return next(a for a in self.named("path") if a.get("data-line") == name)


def address(session: Session, **query: Any) -> str:
    return f"/sessions/{session.uuid}/" + (f"?{urlencode(query)}" if query else "")


def rows(answer: HttpResponse) -> dict[str, list[str]]:
    """The difference table: title to recorded, own settings, what-if."""
    found = re.findall(
        r'<tr data-row="([^"]+)">.*?<td class="n">(.*?)</td><td class="n">(.*?)</td>'
        r'<td class="n [^"]*">(.*?)</td>',
        answer.content.decode(),
    )
    return {title: list(cells) for title, *cells in found}


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(chat(30), CONFIG)


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
    query = {"utm_source": "mail", "compaction.unknown": "1", "__proto__": "x", "rules": "nope"}
    plain = viewer.get(address(session), headers=target)
    odd = viewer.get(address(session, **query, path="nope", preset="nope"), headers=target)
    assert odd.status_code == 200
    assert rows(odd) == rows(plain)
    assert b'role="alert"' not in odd.content


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


# What could hurt


def test_nothing_inline_anywhere(viewer: Client, session: Session) -> None:
    for headers in ({}, RESULT, WORK):
        answer = viewer.get(address(session, contextTokens=300_000), headers=headers)
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        for tag, attributes in Page(answer).elements:
            assert tag != "style"
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert not attributes.get("href", "").strip().lower().startswith("javascript:")
            if tag == "script":
                assert "src" in attributes or attributes["type"] == "application/json"
            for name in ("src", "href"):
                assert "//" not in attributes.get(name, "").split("?")[0]


def test_hostile_texts_are_escaped(viewer: Client, bring: Bring) -> None:
    script = Script().user(HOSTILE)
    for number in range(6):
        usage = {"input": 1_000 + 100 * number, "output": 10}
        script.message("user", HOSTILE)
        script.message("assistant", HOSTILE, provider=HOSTILE, model=HOSTILE, usage=usage)
    config = {"agents": {"defaults": {"compaction": {"mode": HOSTILE, "model": HOSTILE}}}}
    session = bring(script, config, {"modelProvider": HOSTILE, "model": HOSTILE})
    Session.objects.filter(pk=session.pk).update(title=HOSTILE)
    session.agent.name = HOSTILE  # type: ignore[union-attr]
    session.agent.save()  # type: ignore[union-attr]
    for headers in ({}, RESULT, WORK):
        query = {"provider": HOSTILE, "compaction.customInstructions": HOSTILE}
        answer = viewer.get(address(session, **query), headers=headers)
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "<script>alert" not in text and "<img" not in text
        assert "&lt;script&gt;alert(1)" in text
        for _, attributes in Page(answer).elements:
            assert "onerror" not in attributes


# What a move answers


def test_a_slider_gets_the_result_and_what_lies_outside_of_it(
    viewer: Client, session: Session
) -> None:
    answer = viewer.get(address(session, contextWindow=64_000), headers=RESULT)
    page = Page(answer)
    assert "tuning" not in page.ids() and "entries" not in page.ids()
    outside = {a["id"] for _, a in page.elements if a.get("hx-swap-oob") == "true"}
    assert {"verdict", "actions", "note-context_window", "note-reserve_tokens"} <= outside
    assert "contextWindow" in answer.content.decode()


def test_a_switch_gets_the_whole_work_area(viewer: Client, session: Session) -> None:
    page = Page(viewer.get(address(session, path="agent"), headers=WORK))
    assert {"tuning", "result", "verdict"} <= page.ids()
    assert "entries" not in page.ids()
    assert "checked" in next(a for a in page.named("input") if a.get("id") == "sheet")
    assert "disabled" in page.field("compaction.memoryFlush.softThresholdTokens")


def test_every_note_of_the_page_can_be_replaced(viewer: Client, session: Session) -> None:
    on_page = {i for i in Page(viewer.get(address(session))).ids() if i.startswith("note-")}
    moved = Page(viewer.get(address(session), headers=RESULT)).ids()
    assert on_page == {i for i in moved if i.startswith("note-")}


ADDRESSES: tuple[tuple[dict[str, str], str], ...] = (
    ({}, "?"),
    ({"contextWindow": "32,000"}, "?"),
    ({"contextWindow": "32000.0", "compaction.keepRecentTokens": "2e3"}, "?"),
    ({"compaction.memoryFlush.forceFlushTranscriptBytes": "2097152"}, "?"),
    ({"compaction.reserveTokensFloor": "8000"}, "?compaction.reserveTokensFloor=8000"),
    ({"contextPruning.softTrimRatio": "0.30"}, "?"),
    ({"contextPruning.softTrimRatio": "1.0"}, "?contextPruning.softTrimRatio=1"),
    ({"path": "chat", "rules": "openclaw-2026.5.28", "provider": "mock"}, "?"),
    ({"path": "agent"}, "?path=agent"),
    ({"compaction.memoryFlush.enabled": "off"}, "?compaction.memoryFlush.enabled=false"),
    ({"contextWindow": ""}, "?contextWindow="),
    ({"from": "", "to": "", "leaf": "", "preset": ""}, "?"),
    ({"utm": "1"}, "?"),
)


@pytest.mark.parametrize("headers", [RESULT, WORK])
def test_the_address_is_canonical_and_minimal(
    viewer: Client, session: Session, headers: dict[str, str]
) -> None:
    for query, expected in ADDRESSES:
        answer = viewer.get(address(session, **query), headers=headers)
        assert (query, answer["HX-Replace-Url"]) == (query, expected)


def test_the_address_of_a_preset_reads_as_the_same_policy(viewer: Client, session: Session) -> None:
    for preset in ("defaults", "provider-window", "small-window", "small-summary-model"):
        chosen = viewer.get(address(session, preset=preset), headers=RESULT)
        again = viewer.get(f"{address(session)}{chosen['HX-Replace-Url']}", headers=RESULT)
        assert again["HX-Replace-Url"] == chosen["HX-Replace-Url"]
        assert again.content == chosen.content
        assert "preset" not in parse_qs(chosen["HX-Replace-Url"][1:])


def test_the_page_itself_replaces_no_address(viewer: Client, session: Session) -> None:
    assert "HX-Replace-Url" not in viewer.get(address(session, path="agent"))


def test_the_copied_file_holds_what_differs_from_the_defaults(
    viewer: Client, session: Session
) -> None:
    text = viewer.get(address(session)).content.decode()
    copied = json.loads(
        re.search(r'<pre id="config-text">(.*?)</pre>', text, re.S)  # type: ignore[union-attr]
        .group(1)
        .replace("&quot;", '"')
    )
    assert copied["agents"]["defaults"] == {"compaction": {"keepRecentTokens": 2_000}}
    (model,) = copied["models"]["providers"]["mock"]["models"]
    assert model == {"id": "m", "name": "m", "contextWindow": 32_000}


def test_a_setting_put_back_to_its_default_is_copied_too(viewer: Client, session: Session) -> None:
    query = {"compaction.keepRecentTokens": 20_000}
    text = viewer.get(address(session, **query)).content.decode()
    assert "&quot;keepRecentTokens&quot;: 20000" in text


def test_a_locked_knob_keeps_the_value_of_the_address(viewer: Client, session: Session) -> None:
    page = Page(viewer.get(address(session, **{"compaction.maxHistoryShare": 0.3})))
    fields = [a for a in page.named("input") if a.get("name") == "compaction.maxHistoryShare"]
    assert ["disabled" in a for a in fields] == [True, False]
    assert {a["value"] for a in fields} == {"0.3"}


def test_a_configuration_that_cannot_be_read_is_told(
    viewer: Client, bring: Bring, session: Session
) -> None:
    agent = session.agent
    assert agent is not None
    agent.config_text = "{ agents: "
    agent.save()
    answer = viewer.get(address(session))
    assert answer.status_code == 200
    assert b"CONFIG_INVALID" in answer.content and b"not valid JSON5" in answer.content


@pytest.mark.parametrize(
    "entry",
    [
        {"contextTokens": True},
        {"contextTokens": "many"},
        {"contextTokens": -3},
        {"contextTokens": 1e308},
        {"modelProvider": 7, "model": None},
        {"systemPromptReport": []},
        {"systemPromptReport": {"systemPrompt": {"chars": True}}},
    ],
)
def test_odd_index_entries_are_survived(
    viewer: Client, bring: Bring, entry: dict[str, Any]
) -> None:
    assert viewer.get(address(bring(chat(6), entry=entry))).status_code == 200


def test_half_a_surrogate_pair_in_a_configuration_is_survived(viewer: Client, bring: Bring) -> None:
    pruning = {"ttl": "\ud83d", "tools": {"deny": ["\ud83d"]}}
    session = bring(chat(6), {"agents": {"defaults": {"contextPruning": pruning}}})
    for query in ({}, {"preset": "defaults"}):
        assert viewer.get(address(session, **query), headers=WORK).status_code == 200


# What it costs


def queries(viewer: Client, url: str, headers: dict[str, str]) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert viewer.get(url, headers=headers).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


def test_the_number_of_queries_does_not_depend_on_the_length(viewer: Client, bring: Bring) -> None:
    few, many = bring(chat(5), CONFIG, name="few"), bring(chat(500), CONFIG, name="many")
    assert (few.entry_count, many.entry_count) == (10, 1_000)
    for headers in ({}, RESULT, WORK):
        counts = {len(queries(viewer, address(s), headers)) for s in (few, many)}
        assert len(counts) == 1
    assert max(counts) < 20


def test_a_move_never_loads_texts_and_a_second_one_no_entries(
    viewer: Client, session: Session
) -> None:
    from compaction_app import runs
    from sessions_app import loaded

    table = Entry._meta.db_table
    for cache in (loaded._columns, loaded._timelines, runs._replays):
        cache.clear()
    first = queries(viewer, address(session, contextWindow=40_000), RESULT)
    of_entries = [sql for sql in first if table in sql]
    assert len(of_entries) == 1
    assert "payload" not in of_entries[0] and "excerpt" not in of_entries[0]
    second = queries(viewer, address(session, contextWindow=41_000), RESULT)
    assert not [sql for sql in second if table in sql]


def test_the_page_shows_excerpts_but_never_loads_payloads(viewer: Client, session: Session) -> None:
    table = Entry._meta.db_table
    for sql in queries(viewer, address(session), {}):
        if table in sql:
            assert "payload" not in sql
