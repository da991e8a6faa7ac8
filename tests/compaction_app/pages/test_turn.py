"""The page of a turn: every stage in its order, fired or not, audit or what-if."""

from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction_app.audits import decisions_of
from compaction_app.models import AuditedTurn, Decision
from sessions_app.models import Job, Session, Team
from tests.compaction_app.audited import audited
from tests.compaction_app.conftest import source
from tests.conftest import Person


@pytest.fixture
def session(team: Team) -> Session:
    return audited(team)


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_every_stage_of_the_turn_stands_in_its_order(viewer: Client, session: Session) -> None:
    page = viewer.get(f"/sessions/{session.uuid}/turns/30/")

    turn = AuditedTurn.objects.get(number=30)
    links = re.findall(r'<a href="/decisions/([0-9a-f-]+)/">', page.text)
    assert links == [str(row.uuid) for row in decisions_of(turn)]
    text = plain(page.text)
    assert "Turn 30: answered audit replayed: the rules on what was recorded" in text
    assert "Preflight compaction skip the total is below the line 71,931 < 72,000 tokens" in text
    assert "flush the projected prompt reached the flush line" in text
    assert "74,244 > 72,000 tokens" in text
    assert "agrees with the recording" in text
    order = ["Before the run", "Flush turn, attempt 1", "Model call 1", "Model call 2", "Attempt 1", "Model call 3", "76,438 > 76,000 tokens"]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_what_if_of_the_turn_says_that_it_is_one(viewer: Client, session: Session) -> None:
    address = f"/sessions/{session.uuid}/turns/30/?reading=what_if"

    own = plain(viewer.get(address).text)
    later = plain(viewer.get(f"{address}&compaction.memoryFlush.softThresholdTokens=0").text)

    assert "what-if decisions take effect" in own
    assert "74,244 > 72,000 tokens" in own
    assert "74,244 < 76,000 tokens" in later
    assert not Decision.objects.filter(reading="what_if").exists()


def test_a_what_if_of_a_long_session_is_not_run_while_somebody_waits(
    viewer: Client, session: Session
) -> None:
    Session.objects.filter(pk=session.pk).update(entry_count=2_001)

    page = viewer.get(f"/sessions/{session.uuid}/turns/30/?reading=what_if")

    assert page.status_code == 200
    assert "takes too long for a session of 2,001 entries" in plain(page.text)


def test_a_session_whose_decisions_are_not_there_yet_says_so(
    team: Team, viewer: Client, session: Session
) -> None:
    AuditedTurn.objects.all().delete()
    address = f"/sessions/{session.uuid}/turns/3/"
    assert "have not been worked out" in plain(viewer.get(address).text)

    asked = viewer.post(f"/sessions/{session.uuid}/decisions/audit/")

    assert asked.status_code == 302
    assert Job.objects.get(kind="audit").session == session
    assert "are being worked out" in plain(viewer.get(address).text)
    viewer.post(f"/sessions/{session.uuid}/decisions/audit/")
    assert Job.objects.count() == 1


def test_an_entry_leads_to_its_turn(viewer: Client, session: Session) -> None:
    turn = AuditedTurn.objects.get(number=31)
    for seq in (turn.start, turn.prompt, turn.prompt + 1):
        there = viewer.get(f"/sessions/{session.uuid}/entries/{seq}/turn/")
        assert there.headers["Location"] == f"/sessions/{session.uuid}/turns/31/"
    before = viewer.get(f"/sessions/{session.uuid}/entries/{turn.start - 1}/turn/")
    assert before.headers["Location"] == f"/sessions/{session.uuid}/turns/30/"


def test_a_turn_that_is_not_there_is_not_found(viewer: Client, session: Session) -> None:
    for place in ("0/", "35/", "99999999/", "0/?reading=what_if", "35/?reading=what_if"):
        assert viewer.get(f"/sessions/{session.uuid}/turns/{place}").status_code == 404


def test_bad_settings_are_told_and_left_out(viewer: Client, session: Session) -> None:
    address = (
        f"/sessions/{session.uuid}/turns/2/?reading=what_if&rules=nope&path=x&contextWindow=-1"
    )

    page = viewer.get(address)

    assert page.status_code == 200
    assert page.text.count('role="alert"') == 3


def test_other_teams_and_strangers_see_nothing(
    bob: Person, client: Client, session: Session
) -> None:
    for place in ("turns/1/", "decisions/", "entries/1/turn/"):
        assert bob.client.get(f"/sessions/{session.uuid}/{place}").status_code == 404
        assert bob.client.get(f"/sessions/{uuid4()}/{place}").status_code == 404
        assert client.get(f"/sessions/{session.uuid}/{place}").status_code == 302
    assert bob.client.post(f"/sessions/{session.uuid}/decisions/audit/").status_code == 404
    assert not Job.objects.exists()


def test_only_the_methods_that_make_sense_are_taken(viewer: Client, session: Session) -> None:
    assert viewer.post(f"/sessions/{session.uuid}/turns/1/").status_code == 405
    assert viewer.post(f"/sessions/{session.uuid}/decisions/").status_code == 405
    assert viewer.get(f"/sessions/{session.uuid}/decisions/audit/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="member"))
    assert strict.post(f"/sessions/{session.uuid}/decisions/audit/").status_code == 403


def test_hostile_text_is_escaped(team: Team, viewer: Client) -> None:
    from compaction_app.audits import audit_session
    from sessions_app.batches import import_files
    from tests.builders import Chain, usage

    chain = Chain()
    chain.user("<script>alert(1)</script>")
    chain.assistant("ok", usage(10, 5))
    (report,) = import_files(team, [source("<b>x.jsonl", chain.data().decode())])
    (session,) = report.sessions
    audit_session(session)

    page = viewer.get(f"/sessions/{session.uuid}/turns/1/")

    assert "&lt;script&gt;alert(1)" in page.text
    assert "<script>alert" not in page.text
    assert "<b>x" not in page.text


def test_a_long_turn_takes_no_more_queries_than_a_short_one(
    viewer: Client, session: Session
) -> None:
    def count(number: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(f"/sessions/{session.uuid}/turns/{number}/").status_code == 200
        return len(queries)

    count(2)
    assert count(30) == count(2)
