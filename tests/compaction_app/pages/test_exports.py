"""What can be taken along from a session: nothing of it runs, and no text goes unasked."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree

import pytest
from django.http import HttpResponse
from django.test import Client

from compaction_app.exports import as_csv
from sessions_app.models import Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person
from tests.engine.builders import Script

pytestmark = pytest.mark.django_db

NAMES = ("chart.svg", "events.csv", "events.json", "report.html")


def taken(client: Client, session: Session, name: str, **query: Any) -> str:
    answer = client.get(f"/sessions/{session.uuid}/{name}", query)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    return answer.content.decode()


def test_the_chart_is_a_drawing_of_its_own(viewer: Client, session: Session) -> None:
    text = taken(viewer, session, "chart.svg")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    for part in ('class="curve billed"', "flush line", "model call", "stroke:"):
        assert part in text
    assert "var(--" not in text and "<script" not in text and "href" not in text


def test_the_chart_shows_the_what_if_of_the_address(viewer: Client, session: Session) -> None:
    own = taken(viewer, session, "chart.svg")
    other = taken(viewer, session, "chart.svg", **{"compaction.reserveTokensFloor": "4000"})
    assert own != other


def test_events_are_the_same_rows_in_both_forms(viewer: Client, session: Session) -> None:
    listed = json.loads(taken(viewer, session, "events.json"))
    rows = list(csv.DictReader(io.StringIO(taken(viewer, session, "events.csv"))))
    assert len(rows) == len(listed) > 0
    assert [row["call"] for row in rows] == [str(each["call"]) for each in listed]
    assert {each["source"] for each in listed} <= {"recorded", "what-if"}
    assert rows[0]["after"] == ("" if listed[0]["after"] is None else str(listed[0]["after"]))


def test_a_text_that_a_spreadsheet_would_run_is_kept_a_text() -> None:
    assert as_csv([{"a": "=1+1", "b": -5}]) == "a,b\r\n'=1+1,-5\r\n"
    assert as_csv([]) == "\r\n"


def test_the_report_is_one_file_without_texts_unless_asked_for(
    viewer: Client, bring: Bring
) -> None:
    script = Script().user("the secret question").answer(100, 900).user().answer(100, 1_000)
    session = bring(script)
    text = taken(viewer, session, "report.html")
    assert "the secret question" not in text and "Texts of messages were removed" in text
    assert "the secret question" in taken(viewer, session, "report.html", texts="1")
    for outside in ("http://127", "<script", 'src="/', "<link"):
        assert outside not in text
    for part in ("Verdict", "Growth", "Lines", "Windows", "Events", "Entries", "<svg"):
        assert part in text


def test_nothing_of_a_hostile_session_is_markup(viewer: Client, bring: Bring) -> None:
    session = bring(Script().user(HOSTILE).answer(100, 900))
    session.title = session.model = HOSTILE[:200]
    session.save()
    for name in NAMES:
        assert "<script>alert" not in taken(viewer, session, name, texts="1")


def test_a_session_without_calls_can_be_taken_along(viewer: Client, bring: Bring) -> None:
    session = bring(Script().user())
    for name in NAMES:
        taken(viewer, session, name)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_team_and_only_by_reading(alice: Person, session: Session, name: str) -> None:
    address = f"/sessions/{session.uuid}/{name}"
    assert alice.client.get(address).status_code == 404
    assert Client().get(address)["Location"].startswith("/login/")
    refused: HttpResponse = alice.client.post(address)  # type: ignore[assignment]
    assert refused.status_code == 405
