"""Asking a model what it recalls of a compaction: the cost before, at least three replicates, the spread."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from compaction_app.lost import cycles_for
from compaction_app.models import ModelConnection
from compaction_app.probe_jobs import probe_of, request_probe
from compaction_app.sealed import seal
from compaction_app.tasks import probe_compaction
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Job, Session
from tests.compaction_app.forgetful import forgetful
from tests.conftest import Person
from tests.engine.builders import text_of
from tests.summarisers.loopback import openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    return alice.imports(text_of(forgetful().entries).encode())


def connect(session: Session, url: str) -> None:
    ModelConnection.objects.create(
        team=session.team, name="mine", kind="openai", base_url=f"{url}/v1", model="m",
        sealed_key=seal("sk-1"), input_price=10, output_price=100,
    )  # fmt: skip


def right(session: Session) -> str:
    window = window_of(session)
    probe = probe_of(window, cycles_for(window)[0])
    return "\n".join(f"{n}. {q.fate.anchor.text}" for n, q in enumerate(probe.questions, 1))


def done(session: Session, replicates: int = 3) -> Job:
    job = request_probe(session, 1, "mine", replicates)
    probe_compaction(str(job.uuid))
    job.refresh_from_db()
    return job


def address(session: Session) -> str:
    return f"/sessions/{session.uuid}/lost/probe/"


def test_the_answers_are_judged_and_their_spread_is_told(alice: Person, session: Session) -> None:
    steps = [openai_stream(text) for text in (right(session), "1. unknown", right(session))]
    with serving(*steps) as server:
        connect(session, server.url)
        job = done(session)
        assert len(server.seen) == 3
        asked = str(server.seen[0][2])
        assert server.seen[0][1].get("authorization") == "Bearer sk-1"
    assert job.state == "succeeded", job.error
    assert "src/billing/export.py" in asked and "legacy_invoices table" not in asked
    whole = job.result["recall"]["all"]
    assert whole["shares"] == [1.0, 0.0, 1.0] and 0.4 < whole["spread"] < 0.5
    assert float(job.result["cost"]) == 0.009
    shown = alice.client.get(f"{address(session)}{job.uuid}/").content.decode()
    assert "2 of 3" in shown and "US$ 0.009" in shown and "lost by search" in shown
    assert "sk-1" not in str(job.result) and "sk-1" not in shown


def test_the_cost_stands_there_before_anything_is_asked(alice: Person, session: Session) -> None:
    connect(session, "http://127.0.0.1:9")
    shown = alice.client.get(f"{address(session)}?compaction=1").content.decode()
    window = window_of(session)
    tokens = probe_of(window, cycles_for(window)[0]).prompt_tokens
    assert f"{3 * (tokens * 10 + 2_000 * 100) / 1e6:.4f}" in shown
    assert not Job.objects.filter(kind="probe").exists()


def test_asking_queues_a_job(alice: Person, session: Session) -> None:
    connect(session, "http://127.0.0.1:9")
    values = {"compaction": "1", "model": "mine", "replicates": "4"}
    answer = alice.client.post(address(session), values)
    job = Job.objects.get(kind="probe")
    assert answer["Location"] == f"{address(session)}{job.uuid}/"
    assert (job.arguments["replicates"], job.total) == (4, 4)
    assert "queued" in alice.client.get(answer["Location"]).content.decode().lower()


@pytest.mark.parametrize(
    "wrong", [{"model": "nobody"}, {"replicates": "2"}, {"replicates": "11"}, {"replicates": "x"}]
)
def test_what_cannot_be_is_refused(alice: Person, session: Session, wrong: dict[str, str]) -> None:
    connect(session, "http://127.0.0.1:9")
    values = {"compaction": "1", "model": "mine", "replicates": "3", **wrong}
    assert alice.client.post(address(session), values).status_code == 422
    assert not Job.objects.filter(kind="probe").exists()


def test_fewer_than_three_replicates_are_no_measurement(session: Session) -> None:
    with pytest.raises(ValueError, match="From 3"):
        request_probe(session, 1, "mine", 2)


def test_a_model_that_refuses_fails_the_job(alice: Person, session: Session) -> None:
    with serving(refusing(401, "who are you")) as server:
        connect(session, server.url)
        job = done(session)
    assert job.state == "failed" and "who are you" in job.error
    assert "who are you" in alice.client.get(f"{address(session)}{job.uuid}/").content.decode()


def test_it_can_be_cancelled(session: Session) -> None:
    with serving(openai_stream("1. a", "b", stall=20)) as server:
        connect(session, server.url)
        job = request_probe(session, 1, "mine", 3)
        jobs.cancel(job)
        probe_compaction(str(job.uuid))
        assert server.seen == []
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_without_a_model_the_page_says_where_to_add_one(alice: Person, session: Session) -> None:
    shown = alice.client.get(f"{address(session)}?compaction=1").content.decode()
    assert "no model yet" in shown and "/models/" in shown


def test_other_people_methods_and_numbers(alice: Person, session: Session) -> None:
    connect(session, "http://127.0.0.1:9")
    job = request_probe(session, 1, "mine", 3)
    for query in ("", "?compaction=9", "?compaction=x"):
        assert alice.client.get(address(session) + query).status_code == 404
    assert alice.client.post(f"{address(session)}{job.uuid}/").status_code == 405
    assert alice.client.get(f"{address(session)}{session.uuid}/").status_code == 404
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger"))
    assert stranger.get(f"{address(session)}?compaction=1").status_code == 404
    assert stranger.get(f"{address(session)}{job.uuid}/").status_code == 404
    assert Client().get(f"{address(session)}?compaction=1").status_code == 302
