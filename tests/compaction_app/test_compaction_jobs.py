"""The compaction of a session by a worker: decided again, made, written with everything."""

from __future__ import annotations

import pytest

from compaction_app import live_turns
from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import CompactionRecord, Decision
from sessions_app.models import Event, Session
from sessions_app.workspace import write_files
from tests.compaction_app.compacting import (
    boundaries,
    compacted,
    connect,
    done,
    talk,
)
from tests.compaction_app.live import SMALL, answer, live_session, user
from tests.conftest import Person
from tests.summarisers.loopback import refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def test_a_session_is_compacted_with_everything_that_explains_it(session: Session) -> None:
    job = compacted(session)
    (entry,) = boundaries(session)
    record = CompactionRecord.objects.get()
    assert (record.outcome, record.entry_id, record.cycle) == ("compacted", entry["id"], 0)
    assert (record.session, record.team, record.job) == (session, session.team, job)
    assert record.tokens_before and record.tokens_after is not None
    assert record.tokens_after < record.tokens_before
    assert record.record["entryId"] == entry["id"]
    (call,) = record.calls
    assert (call["summariser"], call["portion"]) == ("extractive", [1, 1])
    assert call["promptChars"] > 1_000 and call["answer"] in entry["summary"]
    session.refresh_from_db()
    assert session.index_entry["compactionCount"] == 1
    assert session.queued and "Compacted" in session.queued[0]
    assert job.result["record"] == str(record.uuid)
    assert next(line.text for line in job.lines.all()) == "cycle 0: to be compacted"
    rules = set(Decision.objects.filter(session=session).values_list("rule", flat=True))
    assert {"compaction", "compaction_cut", "manual_boundary"} <= rules
    kinds = list(Event.objects.filter(session=session).values_list("kind", flat=True))
    assert kinds[-1] == "compaction"


def test_the_user_is_told_where_the_policy_says_so(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.notifyUser": True})
    talk(session)
    compacted(session)
    told = Event.objects.filter(session=session, kind="status").order_by("sequence")
    assert [event.data["text"] for event in told] == [
        "🧹 Compacting context...", "🧹 Compaction complete",
    ]  # fmt: skip


def test_a_session_without_conversation_is_left_alone(alice: Person) -> None:
    session = live_session(alice)
    job = compacted(session)
    assert job.result["compacted"] is False
    assert boundaries(session) == []


def test_a_compaction_before_a_turn_is_decided_again(session: Session) -> None:
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "send"
    job = compacted(session, trigger="budget", prompt=prompt)
    assert job.result["summary"] == "It is not due any more."


def test_a_due_compaction_clears_the_way_for_the_turn(alice: Person) -> None:
    session = live_session(alice, flush_first=False)
    talk(session)
    live_turns.append(session, [user("more"), answer("yes", prompt=25_000)])
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "compact"
    compacted(session, trigger="budget", prompt=prompt)
    assert live_turns.prepare(session, prompt).next.action in ("send", "flush")
    stages = Decision.objects.filter(session=session, rule="preflight", fired=True)
    assert stages.exists()


def test_a_due_compaction_that_fails_lets_the_turn_go_on_as_the_rules_say(alice: Person) -> None:
    session = live_session(alice, flush_first=False)
    talk(session)
    live_turns.append(session, [user("more"), answer("yes", prompt=25_000)])
    prompt = user("And now?")
    with serving(refusing(400, "no")) as server:
        connect(session, server.url)
        assert done(request_compaction(session, trigger="budget", prompt=prompt)).state == "failed"
    assert live_turns.prepare(session, prompt).next.action != "compact"


def test_a_compaction_that_a_turn_made_due_stands_under_that_turn(session: Session) -> None:
    step = live_turns.report_call(session, [user("more"), answer("yes", prompt=31_000)]).next
    assert step is not None and step.compaction is not None
    trigger = step.compaction.trigger
    compacted(session, trigger=trigger)
    made = Decision.objects.filter(session=session).order_by("id").values_list("turn", "stage")
    before = [turn for turn, stage in made if stage == "inner_trigger"]
    assert {turn for turn, stage in made if stage == "compaction"} == set(before[-1:]) == {5}


def test_the_agents_own_rules_are_told_again_with_the_next_prompt(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.postCompactionSections": ["Red Lines"]})
    assert session.agent is not None
    write_files(
        session.agent, {"AGENTS.md": "# Me\n\n## Red Lines\nNever push to main.\n\n## Tone\nKind."}
    )
    talk(session)
    compacted(session)
    session.refresh_from_db()
    (told,) = [text for text in session.queued if "Never push to main." in text]
    assert "Kind." not in told
    step = live_turns.prepare(session, user("And now?")).next
    assert step.context is not None
    assert "Never push to main." in str(step.context.messages)
