"""The session page while an experimental constant is tried: what is left of results, and the calls."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app import tried_cuts
from compaction_app.engine.pruning.change import text_chars
from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.pruning.truncate import cap_message
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import DETAILS, RESULT, WORK, Page, address, rows
from tests.compaction_app.pages.test_pruning import CONFIG
from tests.engine.builders import Script

pytestmark = pytest.mark.django_db

LOG = "a line of the log\n" * 4_000 + "exit code 1"
TAIL = {"x.tailShare": "0.5", "x.tailMaxChars": "20000"}


def script(*texts: str) -> Script:
    written = Script()
    for text in texts:
        written.user().answer(100).result(text).answer(100)
    return written


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(script("small", LOG, "x" * 40_000, LOG), CONFIG)


def part(client: Client, session: Session, headers: Any = DETAILS, **query: str) -> str:
    answer = client.get(address(session, **query), headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def section(text: str) -> str:
    """The words between the headings of the part about constants, "" without it."""
    found = re.search(r'<section id="tried".*?</section>', text, re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[0])).split()) if found else ""


def test_without_a_tried_constant_no_text_is_read_and_nothing_is_shown(
    viewer: Client, session: Session
) -> None:
    part(viewer, session)
    with CaptureQueriesContext(connection) as queries:
        assert not section(part(viewer, session))
    assert not [q for q in queries if "payload" in q["sql"]]


def test_the_first_answer_to_a_move_reads_no_text(viewer: Client, session: Session) -> None:
    part(viewer, session)
    with CaptureQueriesContext(connection) as queries:
        assert not section(part(viewer, session, RESULT, **TAIL))
    assert not [q for q in queries if "payload" in q["sql"]]


def test_each_cut_result_is_shown_with_the_engine_s_numbers_and_the_sums(
    viewer: Client, session: Session
) -> None:
    text = section(part(viewer, session, **TAIL))
    stored = text[text.index("When a result is stored") : text.index("Before a model call")]
    assert "limit 16,000 characters" in stored
    message = {"role": "toolResult", "content": [{"type": "text", "text": LOG}]}
    tried = with_constants(
        OPENCLAW_2026_5_28, ExperimentalConstants(tail_share=0.5, tail_max_chars=20_000)
    )
    own_chars, tried_chars = (
        text_chars(cap_message(message, 16_000, rules.pruning.truncation))
        for rules in (OPENCLAW_2026_5_28, tried)
    )
    assert stored.count(f" {own_chars:,} ") >= 2 and stored.count(f" {tried_chars:,} ") >= 2
    sums = 2 * len(LOG) + 40_000
    whole = f"3 results (2 cut otherwise) {sums:,} {2 * own_chars + 16_000:,} {2 * tried_chars + 16_000:,}"
    assert whole in stored


def test_a_result_leads_to_its_entry_and_names_its_tool(viewer: Client, session: Session) -> None:
    page = Page(viewer.get(address(session, **TAIL), headers=DETAILS))
    links = {a["href"] for a in page.named("a") if "/entries/" in a.get("href", "")}
    assert any(link.endswith("/6/") or "/6" in link for link in links)
    assert " read " in section(part(viewer, session, **TAIL))


def test_a_share_of_the_window_shows_its_limit_and_the_calls(
    viewer: Client, session: Session
) -> None:
    text = section(part(viewer, session, **{"x.singleShare": "0.2", "x.headroomShare": "0.4"}))
    assert "limit 64,000 → 25,600 estimated characters" in text
    assert "of 8 in the what-if, estimated" in text
    assert "limit on the whole, characters 230,400 102,400" in text
    calls = re.search(
        r"a result in view is cut (\d+) first: call (\d+) (\d+) first: call (\d+)", text
    )
    assert calls and [int(n) for n in calls.groups()] == [5, 4, 5, 4]


def test_the_difference_table_counts_where_the_guard_acts_while_its_constants_are_tried(
    viewer: Client, session: Session
) -> None:
    def table(**query: str) -> dict[str, list[str]]:
        return rows(viewer.get(address(session, **query), headers=RESULT))

    assert not [title for title in table(**TAIL) if "guard" in title]
    tried = table(**{"x.singleShare": "0.9", "x.headroomShare": "0.1"})
    assert tried["calls with a cut result"] == ["unknown", "5", "4"]
    assert tried["calls over the guard’s limit"] == ["unknown", "0", "5"]
    assert "calls with a cut result" not in table(**{"x.singleShare": "0.9"}, path="cli")


def test_a_session_of_small_results_says_how_small_they_are(viewer: Client, bring: Bring) -> None:
    small = bring(script("x" * 700, "y" * 900), CONFIG)
    text = section(part(viewer, small, **TAIL))
    assert text.count("Nothing is cut: no result is larger than that.") == 2
    assert "The largest has 900 characters." in text
    assert "The largest has 1,800 estimated characters." in text
    assert "No effect: no tool result is larger than 16,000 characters." in part(
        viewer, small, WORK, **TAIL
    )


def test_a_session_without_results_says_so(viewer: Client, bring: Bring) -> None:
    empty = bring(Script().user().answer(100), CONFIG)
    assert "this session holds no tool result" in section(part(viewer, empty, **TAIL))


def test_only_the_largest_results_are_read(
    viewer: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tried_cuts, "MOST_RESULTS", 2)
    text = section(part(viewer, session, **TAIL))
    assert "Looked at: the 2 largest of 4 tool results." in text
    monkeypatch.setattr(tried_cuts, "MOST_CHARS", 10)
    assert "Looked at: the 1 largest of 4" in section(part(viewer, session, **TAIL))


@pytest.mark.parametrize("rules", ["openclaw-2026.3", "openclaw-2026.4.20", "openclaw-2026.9"])
def test_every_rule_set_answers(viewer: Client, session: Session, rules: str) -> None:
    query = {**TAIL, "rules": rules, "x.singleShare": "0.3", "x.headroomShare": "0.5"}
    text = section(part(viewer, session, **query))
    assert "Before a model call, in view only" in text
    assert "inf" not in text.lower().split()


def test_recovery_has_its_own_table_only_where_it_cuts_otherwise(
    viewer: Client, session: Session
) -> None:
    both = "When a result is stored, and in recovery after an overflow"
    assert both in section(part(viewer, session, **TAIL))
    early = section(part(viewer, session, **TAIL, rules="openclaw-2026.3"))
    assert both not in early and "In recovery after an overflow limit 76,800" in early


def test_a_command_line_backend_shows_no_cut_results(viewer: Client, session: Session) -> None:
    assert not section(part(viewer, session, **TAIL, path="cli"))


def test_a_tool_with_a_name_made_to_hurt_is_escaped(viewer: Client, bring: Bring) -> None:
    written = script(LOG)
    for entry in written.entries:
        if "toolName" in entry["message"]:
            entry["message"]["toolName"] = "<script>alert(1)</script>"
    text = part(viewer, bring(written, CONFIG), **TAIL)
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
