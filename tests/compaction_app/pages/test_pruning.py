"""Pruning on the session page: bars, reasons, markers, differences, and constants that are tried."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app import runs
from compaction_app.engine.policy import with_changes
from compaction_app.engine.pruning.cache_ttl_settings import SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed
from sessions_app.loaded import timeline_of
from sessions_app.models import Session
from sessions_app.tokens.pruner_chars import OPENCLAW_2026_5_28, pruner_message_chars
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import DETAILS, RESULT, WORK, Page, address, rows
from tests.engine.builders import Script

pytestmark = pytest.mark.django_db

CACHE_TTL = {
    "contextPruning.mode": "cache-ttl",
    "contextPruning.ttl": "60s",
    "contextPruning.softTrimRatio": "0.05",
    "contextPruning.minPrunableToolChars": "0",
}
CONFIG: dict[str, Any] = {
    "models": {
        "providers": {
            "mock": {
                "baseUrl": "http://127.0.0.1/v1",
                "api": "anthropic-messages",
                "models": [{"id": "m", "name": "m", "contextWindow": 64_000}],
            }
        }
    },
}


def script(turns: int = 6, text: str = "t" * 5_000, apart_minutes: int = 10) -> Script:
    """Turns with a tool result each; a session goes to sleep between them."""
    written = Script()
    for turn in range(turns):
        first = len(written.entries)
        written.user().answer(100).result(text).answer(100)
        for number, entry in enumerate(written.entries[first:]):
            at = turn * apart_minutes
            entry["timestamp"] = f"2026-01-01T{at // 60:02}:{at % 60:02}:{number:02}Z"
    return written


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(script(), CONFIG)


def words(client: Client, session: Session, headers: Any = DETAILS, **query: Any) -> str:
    """What a person reads: the answer without its tags."""
    answer = client.get(address(session, **query), headers=headers)
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def test_with_the_mode_off_there_is_no_strip(viewer: Client, session: Session) -> None:
    answer = viewer.get(address(session))
    assert "pruning" not in Page(answer).ids()
    assert "calls pruned" not in rows(answer)


def test_the_strip_says_what_was_taken_out_and_why_nothing_elsewhere(
    viewer: Client, session: Session
) -> None:
    answer = viewer.get(address(session, **CACHE_TTL), headers=DETAILS)
    page, text = Page(answer), words(viewer, session, **CACHE_TTL)
    assert "pruning" in page.ids()
    bars = [a for a in page.named("path") if a.get("class", "").startswith("layer soft-trimmed")]
    assert bars[0]["d"].count("M") == 4
    assert "Pruned at 4 of 12 calls: 19,140 characters soft-trimmed, 0 characters cleared." in text
    assert "The longest time between two calls is 9 min 58 s; the ttl is 1 min." in text
    for reason in (
        "no mark yet: no attempt has ended",
        "the ttl had not elapsed since the cache was last touched (at most 2 s of 1 min)",
        "fewer answers than keepLastAssistants",
    ):
        assert reason in text


def test_a_call_left_alone_has_a_tick_that_says_why(viewer: Client, session: Session) -> None:
    text = viewer.get(address(session, **CACHE_TTL), headers=DETAILS).content.decode()
    titles = re.findall(r'class="at why"><title>([^<]+)</title>', text)
    assert len(titles) == 8
    assert titles[0].startswith("call 1 not pruned: no mark yet")
    assert any("call 8 not pruned: the ttl had not elapsed" in title for title in titles)


def test_below_the_ratio_the_numbers_are_told(viewer: Client, session: Session) -> None:
    text = words(viewer, session, **{**CACHE_TTL, "contextPruning.softTrimRatio": "0.9"})
    assert "No call is pruned. The table says why." in text
    assert re.search(
        r"below softTrimRatio \(at most 0\.\d+ of 0\.9: [\d,]+ of 256,000 characters\)", text
    )


def test_a_provider_that_is_not_eligible_is_named_and_its_knobs_are_locked(
    viewer: Client, session: Session
) -> None:
    query = {**CACHE_TTL, "provider": "openai"}
    assert "provider openai with model m is not one" in words(viewer, session, **query)
    page = Page(viewer.get(address(session, **query), headers=WORK))
    assert "disabled" in page.field("contextPruning.softTrimRatio")
    assert "disabled" not in page.field("contextPruning.mode")
    free = Page(viewer.get(address(session, **CACHE_TTL), headers=WORK))
    for name in ("keepLastAssistants", "softTrim.headChars", "hardClearRatio", "ttl"):
        assert "disabled" not in free.field(f"contextPruning.{name}")


def test_the_difference_table_counts_what_a_recording_cannot_tell(
    viewer: Client, session: Session
) -> None:
    table = rows(viewer.get(address(session, **CACHE_TTL), headers=RESULT))
    assert table["calls pruned"] == ["unknown", "off", "4"]
    assert table["characters trimmed"] == ["unknown", "off", "19,140"]
    assert table["characters cleared"] == ["unknown", "off", "0"]


def test_pruned_calls_have_markers_that_lead_to_their_row(viewer: Client, session: Session) -> None:
    answer = viewer.get(address(session, **CACHE_TTL), headers=RESULT)
    page = Page(answer)
    marks = [a for a in page.named("a") if a.get("class") == "mark simulated prune"]
    assert len(marks) == 4
    rows_below = Page(viewer.get(address(session, **CACHE_TTL), headers=DETAILS)).ids()
    assert {mark["href"].removeprefix("#") for mark in marks} <= rows_below
    assert "contextWindow * 4 = 256,000" in words(viewer, session, **CACHE_TTL)
    assert "at 4 calls up to call 11: 19,140 characters soft-trimmed" in words(
        viewer, session, **CACHE_TTL
    )


def test_a_range_of_calls_has_the_bars_of_those_calls(viewer: Client, session: Session) -> None:
    text = words(viewer, session, **CACHE_TTL, **{"from": 5, "to": 8})
    assert "Pruned at 4 of 12 calls" in text and "in the calls shown" in text


def test_a_long_session_keeps_the_strip_small(viewer: Client, bring: Bring) -> None:
    long = bring(script(140, "t" * 500, 1), CONFIG)
    query = {**CACHE_TTL, "contextPruning.ttl": "1s", "contextPruning.softTrim.maxChars": "200"}
    query |= {"contextPruning.softTrim.headChars": "10", "contextPruning.softTrim.tailChars": "10"}
    chart = viewer.get(address(long, **query), headers=RESULT)
    strip = viewer.get(address(long, **query), headers=DETAILS)
    ticks = [a for a in Page(strip).named("svg") if a.get("class") == "at why"]
    marks = [a for a in Page(chart).named("a") if "prune" in a.get("class", "")]
    assert 0 < len(ticks) <= 60 and 0 < len(marks) <= 120
    assert len(chart.content) + len(strip.content) < 120_000


def test_nothing_inline_in_the_strip_and_the_constants(viewer: Client, session: Session) -> None:
    for headers in ({}, RESULT, DETAILS, WORK):
        answer = viewer.get(address(session, **CACHE_TTL, **{"x.imageChars": "5"}), headers=headers)
        for tag, attributes in Page(answer).elements:
            assert tag != "style"
            assert not [name for name in attributes if name.startswith("on") or name == "style"]


# Wide characters


def test_wide_results_are_weighed_by_their_texts_and_loaded_once(
    viewer: Client, bring: Bring
) -> None:
    text = "漢" * 3_000 + "t" * 3_000
    wide = bring(script(6, text), CONFIG)
    situation = runs.situation_of(wide)
    policy = with_changes(situation.policy, CACHE_TTL)
    done = runs.replay_for(situation, policy, situation.around).pruning
    message = {"role": "toolResult", "content": [{"type": "text", "text": text}]}
    trimmed = soft_trimmed(message, SoftTrim(), OPENCLAW_2026_5_28)
    one = pruner_message_chars(message, OPENCLAW_2026_5_28) - pruner_message_chars(
        trimmed, OPENCLAW_2026_5_28
    )
    assert int(done.trimmed_chars[done.fired][0]) == one
    with CaptureQueriesContext(
        connection,
    ) as queries:
        moved = with_changes(policy, {"contextPruning.softTrimRatio": 0.06})
        runs.replay_for(situation, moved, situation.around)
    assert not [q for q in queries if "payload" in q["sql"]]


def test_a_session_without_wide_characters_loads_no_text(viewer: Client, session: Session) -> None:
    with CaptureQueriesContext(connection) as queries:
        viewer.get(address(session, **CACHE_TTL), headers=RESULT)
    assert not [q for q in queries if "payload" in q["sql"]]


def test_columns_know_the_tools_and_what_a_trim_measures(session: Session) -> None:
    columns = timeline_of(runs.situation_of(session).window).columns
    assert columns.tool_names == ("", "read")
    assert [columns.tool_names[code] for code in columns.tool[:4]] == ["", "", "read", ""]
    assert columns.view_chars[:4].tolist() == [0, 0, 5_000, 0]
    assert columns.pruner_chars[:4].tolist() == [400, 100, 5_000, 100]
    assert not columns.is_wide.any()


def test_only_the_tools_that_may_be_pruned_are(viewer: Client, session: Session) -> None:
    text = words(viewer, session, **CACHE_TTL, **{"contextPruning.tools.deny": "re*"})
    assert "over softTrimRatio, but no old result is long enough to trim" in text


# Constants that are not the runtime's


def test_a_changed_constant_is_announced_and_travels_in_the_address(
    viewer: Client, session: Session
) -> None:
    answer = viewer.get(address(session, **{"x.tailShare": "0.5"}), headers=RESULT)
    assert answer["HX-Replace-Url"] == "?x.tailShare=0.5"
    text = words(viewer, session, RESULT, **{"x.tailShare": "0.5"})
    assert "Experimental: this result is not the runtime’s." in text
    assert "tailShare 0.5 instead of 0.3" in text
    back = [a["href"] for a in Page(answer).named("a") if a.get("href") == "?"]
    assert back
    work = viewer.get(address(session, **{"x.tailShare": "0.5"}), headers=WORK)
    assert "openclaw-2026.5.28+experimental" in work.content.decode()
    assert Page(work).field("x.tailShare")["value"] == "0.5"


@pytest.mark.parametrize("value", ["0.3", "", "0.30"])
def test_the_runtime_s_own_value_is_no_experiment(
    viewer: Client, session: Session, value: str
) -> None:
    answer = viewer.get(address(session, **{"x.tailShare": value}), headers=RESULT)
    assert answer["HX-Replace-Url"] == "?"
    assert "Experimental: this result" not in answer.content.decode()


def test_a_refused_constant_is_told(viewer: Client, session: Session) -> None:
    text = words(viewer, session, RESULT, **{"x.tailShare": "7"})
    assert "x.tailShare: '7' is no number from 0 to 1." in text
    assert "Experimental: this result" not in text


def test_the_group_is_closed_until_something_in_it_is_changed(
    viewer: Client, session: Session
) -> None:
    def details(**query: str) -> dict[str, str]:
        page = Page(viewer.get(address(session, **query)))
        return next(a for a in page.named("details") if a.get("class") == "experimental")

    assert "open" not in details()
    assert "open" in details(**{"x.singleShare": "0.4"})


def test_every_constant_without_effect_says_so_with_the_number(
    viewer: Client, session: Session
) -> None:
    text = words(viewer, session, WORK, **CACHE_TTL)
    assert text.count("No effect: no tool result is larger than 16,000 characters.") == 3
    assert text.count("No effect: no tool result is larger than 32,000 characters.") == 1
    assert text.count("No effect on the curve, which leaves out the guard") == 2
    assert "No effect: this session holds no image." in text


def test_two_rule_sets_keep_their_experiments_apart(viewer: Client, session: Session) -> None:
    query = {"rules": "openclaw-2026.3", "x.headroomShare": "0.8"}
    answer = viewer.get(address(session, **query), headers=RESULT)
    assert answer["HX-Replace-Url"] == "?rules=openclaw-2026.3&x.headroomShare=0.8"
    page = viewer.get(address(session, **query), headers=WORK).content.decode()
    assert "<option selected>openclaw-2026.3</option>" in page
    assert "0.8 instead of 0.75" in page
