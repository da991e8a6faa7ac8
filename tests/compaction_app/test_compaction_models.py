"""Who summarises for a compaction, what it is asked, and what is kept of it."""

from __future__ import annotations

import pytest

from compaction_app import compaction_jobs
from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import CompactionRecord
from sessions_app.models import Session
from tests.compaction_app.compacting import (
    STRUCTURED,
    boundaries,
    compacted,
    connect,
    done,
    talk,
)
from tests.compaction_app.live import SMALL, live_session
from tests.conftest import Person
from tests.summarisers.loopback import openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def test_instructions_reach_the_summariser(session: Session) -> None:
    with serving(openai_stream("A summary")) as server:
        connect(session, server.url)
        compacted(session, instructions="the schema of the database")
        assert "Additional focus: the schema of the database" in str(server.seen[0][2])
    assert CompactionRecord.objects.get().instructions == "the schema of the database"


def test_a_model_summarises_and_its_tries_and_cost_are_kept(session: Session) -> None:
    with serving(refusing(503), openai_stream("What ", "happened")) as server:
        connect(session, server.url, input_price=10, output_price=100)
        compacted(session)
    record = CompactionRecord.objects.get()
    (call,) = record.calls
    assert [(t["outcome"], t["status"]) for t in call["tries"]] == [
        ("retried", 503), ("answered", None),
    ]  # fmt: skip
    assert call["tries"][0]["delayMs"] >= 400
    assert (call["promptTokens"], call["outputTokens"], call["answer"]) == (
        100,
        20,
        "What happened",
    )
    assert record.cost is not None and float(record.cost) == 0.003
    assert boundaries(session)[0]["summary"].startswith("What happened")


def test_a_model_that_refuses_fails_the_job_and_writes_no_boundary(session: Session) -> None:
    with serving(refusing(400, "too long for me")) as server:
        connect(session, server.url)
        job = done(request_compaction(session))
    assert job.state == "failed"
    assert "too long for me" in job.error
    assert boundaries(session) == []
    record = CompactionRecord.objects.get()
    assert (record.outcome, record.entry_id) == ("failed", "")
    assert record.calls[0]["error"]["message"]
    attempt = record.record["summaries"][0]["passes"][0]["chunks"][0]["attempts"][0]
    assert attempt["outcome"] == "gave_up"


def test_a_key_that_cannot_be_read_cancels_a_safeguard_compaction(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.mode": "safeguard"})
    talk(session)
    connect(session, "http://127.0.0.1:9", sealed_key="gAAAA-of another key")
    job = done(request_compaction(session))
    assert job.state == "failed"
    assert "sealed with another SECRET_KEY" in job.error


def test_a_summariser_that_nobody_knows_is_replaced_and_that_is_said(session: Session) -> None:
    assert session.agent is not None
    session.agent.compaction_summariser = "gone"
    session.agent.save()
    job = compacted(session)
    assert 'The summariser "gone" cannot be had' in job.lines.get(level="warning").text


def test_the_safeguard_checks_and_repeats_and_all_of_it_is_kept(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.mode": "safeguard"})
    talk(session, 6)
    with serving(openai_stream("Nothing much."), openai_stream(STRUCTURED)) as server:
        connect(session, server.url)
        compacted(session)
    record = CompactionRecord.objects.get()
    outcomes = [row["outcome"] for row in record.record["quality"]]
    assert outcomes[0] == "retried"
    assert record.record["quality"][0]["reasons"]
    assert len(record.calls) >= 2


def test_a_provider_can_be_a_model_of_the_team(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.provider": "mine"})
    talk(session, 6)
    with serving(openai_stream("By the provider")) as server:
        connect(session, server.url)
        assert session.agent is not None
        session.agent.compaction_summariser = "extractive"
        session.agent.save()
        compacted(session)
    record = CompactionRecord.objects.get()
    assert record.record["provider"] == "answered"
    assert boundaries(session)[0]["summary"].startswith("By the provider")
    assert record.calls[0]["kind"] == "provider"


def test_a_compaction_that_takes_too_long_has_failed(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = live_session(alice)
    talk(session)
    monkeypatch.setattr(compaction_jobs, "compaction_timeout_ms", lambda *_: 1_000)
    with serving(openai_stream("Hel", "lo", stall=20)) as server:
        connect(session, server.url)
        job = done(request_compaction(session))
    assert (job.state, job.error) == ("failed", "Compaction timed out")
    assert CompactionRecord.objects.get().reason == "timed_out"
    assert boundaries(session) == []


def nobody_listens() -> str:
    with serving(openai_stream("gone")) as server:
        return server.url


def test_a_model_that_cannot_be_reached_is_named_with_what_to_do(session: Session) -> None:
    url = nobody_listens()
    connect(session, url)
    job = done(request_compaction(session))
    assert job.state == "failed"
    assert f'"mine" (m at {url}/v1) cannot be reached' in job.error
    assert "another summariser on the agent's page" in job.error
    (line,) = job.lines.filter(level="warning")
    assert line.text.startswith('call 1: "mine" (m at')
    record = CompactionRecord.objects.get()
    assert "cannot be reached" in record.message
    assert record.calls[0]["advice"] in job.error


def test_a_compaction_that_fell_back_says_that_its_model_failed(alice: Person) -> None:
    """The rules write a notice in place of the summary; nobody is to take that for a good end."""
    session = live_session(alice, {**SMALL, "compaction.mode": "safeguard"})
    talk(session, 6)
    with serving(refusing(401, "no such key")) as server:
        connect(session, server.url)
        job = compacted(session)
    assert "model calls failed" in job.result["summary"]
    assert any("refuses the key" in n.text for n in job.lines.filter(level="warning"))
