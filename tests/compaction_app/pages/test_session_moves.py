"""What a move of a knob on the session page answers, and what it costs."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Entry, Session
from sessions_app.secret_search import search_all
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import CONFIG, DETAILS, RESULT, WORK, Page, address
from tests.engine.builders import chat
from tests.texts_loaded import loads_texts

pytestmark = pytest.mark.django_db


# What a move answers


def test_a_slider_gets_the_chart_first_and_asks_for_the_rest(
    viewer: Client, session: Session
) -> None:
    first = Page(viewer.get(address(session, contextWindow=64_000), headers=RESULT))
    assert first.ids() == {"composition", "differences", "assumed"}
    (rest,) = (a for a in first.named("div") if a.get("hx-target") == "#details")
    assert rest["hx-get"] == "?contextWindow=64000"
    answer = viewer.get(f"{address(session)}{rest['hx-get']}", headers=DETAILS)
    page = Page(answer)
    assert {"lines", "verdict", "actions"} <= page.ids()
    assert "tuning" not in page.ids() and "entries" not in page.ids()
    outside = {a["id"] for _, a in page.elements if a.get("hx-swap-oob") == "true"}
    assert {"verdict", "actions"} <= outside
    assert "contextWindow" in answer.content.decode()


def test_a_switch_gets_the_whole_work_area(viewer: Client, session: Session) -> None:
    page = Page(viewer.get(address(session, path="agent"), headers=WORK))
    assert {"tuning", "result", "verdict"} <= page.ids()
    assert "entries" not in page.ids()
    assert "checked" in next(a for a in page.named("input") if a.get("id") == "sheet")
    assert "disabled" in page.field("compaction.memoryFlush.softThresholdTokens")


def test_every_note_of_the_page_can_be_replaced(viewer: Client, session: Session) -> None:
    on_page = {i for i in Page(viewer.get(address(session))).ids() if i.startswith("note-")}
    moved = viewer.get(address(session), headers=DETAILS).content.decode()
    notes = re.search(r'<script id="knob-notes" type="application/json">(.*?)</script>', moved)
    assert notes
    assert on_page == {f"note-{name}" for name in json.loads(notes[1])}


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
    search_all()  # for secrets; whoever looks first does it else, and reads the texts for it
    for headers in ({}, RESULT, DETAILS, WORK):
        # Measuring what a summary would quote reads texts once; a size that is chosen reads none.
        counts = {len(queries(viewer, address(s, summary="cap"), headers)) for s in (few, many)}
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
    first = queries(viewer, address(session, contextWindow=40_000, summary="cap"), RESULT)
    of_entries = [sql for sql in first if table in sql]
    assert len(of_entries) == 1
    assert not loads_texts(of_entries[0]) and "excerpt" not in of_entries[0]
    second = queries(viewer, address(session, contextWindow=41_000, summary="cap"), RESULT)
    assert not [sql for sql in second if table in sql]


def test_the_page_shows_excerpts_but_never_loads_payloads(viewer: Client, session: Session) -> None:
    table = Entry._meta.db_table
    search_all()
    for sql in queries(viewer, address(session, summary="cap"), {}):
        if table in sql:
            assert not loads_texts(sql)


def test_the_browser_keeps_no_copy_of_the_page_at_each_move(
    viewer: Client, session: Session
) -> None:
    # htmx clones and serialises the whole page for its history first, and throws it away where none is kept.
    body = re.search(rb"<body[^>]*>", viewer.get(address(session)).content)
    assert body and b'hx-history="false"' in body[0]


def test_a_move_sends_the_composition_again_only_when_its_range_changes(
    viewer: Client, session: Session
) -> None:
    whole = address(session)
    shown = {"HX-Current-URL": f"http://testserver{whole}"}
    moved = viewer.get(address(session, **{"compaction.reserveTokens": 5}), headers=RESULT | shown)
    assert b'<div id="composition" hx-preserve="true"></div>' in moved.content
    zoomed = viewer.get(address(session, **{"from": 1, "to": 2}), headers=RESULT | shown)
    assert b"Composition of each call by kind" in zoomed.content
    unknown = viewer.get(whole, headers=RESULT)
    assert b"Composition of each call by kind" in unknown.content
