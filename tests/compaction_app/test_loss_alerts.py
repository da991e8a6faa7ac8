"""A running session's compaction that loses something says so: once, on its stream and to webhooks."""

from __future__ import annotations

import json

import pytest

from compaction_app import live_turns, lost, webhooks
from compaction_app.lost import cycles_for
from compaction_app.memory import FlushOrigin, append_notes
from compaction_app.models import WebhookDelivery
from compaction_app.runs import write_summary
from sessions_app import masking
from sessions_app.entries import window_of
from sessions_app.models import Event, Session
from sessions_app.workspace import write_files
from tests.compaction_app.compacting import compacted, connect, talk
from tests.compaction_app.forgetful import forgetful
from tests.compaction_app.live import answer, live_session, user
from tests.conftest import Person
from tests.engine.builders import text_of
from tests.summarisers.loopback import openai_stream, serving

pytestmark = pytest.mark.django_db

RULE = "Never touch the legacy_invoices table."
WEIGHTY = (
    RULE,
    "I decided to use postgres because dumps lock the tables.",
    "TODO: add the index on the vouchers.",
)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    for cache in (lost._indexes, lost._cycles, lost._ledgers, lost._tallies):
        cache.clear()


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    assert made.agent is not None
    webhooks.add_webhook(made.agent, "http://127.0.0.1:9/hook", list(webhooks.KINDS))
    return made


def told(session: Session, summary: str = "Nothing to speak of.", **between: str) -> Session:
    """The session after a compaction whose summary keeps nothing of what was demanded."""
    live_turns.append(session, [user(" ".join(WEIGHTY)), answer("All right.", prompt=500)])
    talk(session)
    write_summary(session)
    for path, text in between.items():
        assert session.agent is not None
        append_notes(session.agent, f"memory/{path}.md", [text], FlushOrigin(session, 0))
    with serving(openai_stream(summary)) as server:
        connect(session, server.url)
        compacted(session)
    session = Session.objects.get(pk=session.pk)
    write_summary(session)
    return session


def alerts(session: Session) -> list[str]:
    kinds = Event.objects.filter(session=session, kind__in=webhooks.ALERTS).order_by("sequence")
    return [event.kind for event in kinds]


def test_a_lost_constraint_is_told_once(session: Session) -> None:
    session = told(session)
    write_summary(session)
    assert alerts(session) == ["constraint_lost"]
    delivery = WebhookDelivery.objects.get(kind="constraint_lost")
    data = json.loads(delivery.body)["data"]
    assert (data["code"], data["count"], data["first"]) == ("CONSTRAINT_LOST", 1, [RULE])
    assert session.summary["losses"]["of"][0]["entry"] == data["entry"]


def test_a_summary_that_keeps_it_is_no_news(session: Session) -> None:
    assert alerts(told(session, "\n".join(f"- {said}" for said in WEIGHTY))) == []


def test_a_flush_that_saved_too_little_is_told(session: Session) -> None:
    session = told(session, day="- the migration goes on\n")
    assert alerts(session) == ["constraint_lost", "flush_did_not_cover"]
    (cycle,) = cycles_for(window_of(session))
    assert cycle.memory_files == ("memory/day.md",)


def test_what_the_flush_saved_is_no_news(session: Session) -> None:
    session = told(session, day="\n".join(f"- {said}" for said in WEIGHTY))
    assert alerts(session) == []
    (cycle,) = cycles_for(window_of(session))
    assert cycle.retention.by_kind["constraint"].memory == 1


def test_an_identifier_that_is_needed_again_is_told_when_it_is(session: Session) -> None:
    live_turns.append(session, [user("The ticket is OPS-4412."), answer("Noted.", prompt=400)])
    session = told(session, "\n".join(WEIGHTY))
    assert alerts(session) == []
    live_turns.append(session, [user("Close OPS-4412, please."), answer("Done.", prompt=900)])
    session.refresh_from_db()
    write_summary(session)
    assert alerts(session) == ["identifier_lost"]


def test_what_a_workspace_file_says_again_is_not_lost(session: Session) -> None:
    assert session.agent is not None
    write_files(session.agent, {"AGENTS.md": f"# Rules\n- {RULE}\n"})
    session.refresh_from_db()
    session = told(session)
    (cycle,) = cycles_for(window_of(session))
    assert cycle.workspace_files == 1
    assert cycle.retention.by_kind["constraint"].workspace == 1
    assert alerts(session) == []


def test_an_address_that_did_not_ask_is_not_told(alice: Person) -> None:
    made = live_session(alice)
    assert made.agent is not None
    webhooks.add_webhook(made.agent, "http://127.0.0.1:9/hook", list(webhooks.USUAL_KINDS))
    session = told(made)
    assert alerts(session) == ["constraint_lost"]
    assert not WebhookDelivery.objects.filter(kind__in=webhooks.ALERTS).exists()


def test_masked_texts_leave_masked(session: Session) -> None:
    rule = masking.register(lambda shown: shown.replace("legacy_invoices", "•••"))
    try:
        told(session)
        assert "legacy_invoices" not in WebhookDelivery.objects.get(kind="constraint_lost").body
    finally:
        masking.unregister(rule)


def test_an_imported_session_alerts_nobody(alice: Person) -> None:
    session = alice.imports(text_of(forgetful().entries).encode())
    write_summary(session)
    assert session.summary["losses"]["of"][0]["constraint_count"] == 3
    assert alerts(session) == []


def test_the_page_names_the_codes(alice: Person, session: Session) -> None:
    session = told(session)
    shown = alice.client.get(f"/sessions/{session.uuid}/lost/").content.decode()
    assert "CONSTRAINT_LOST" in shown and "IDENTIFIER_LOST" not in shown
