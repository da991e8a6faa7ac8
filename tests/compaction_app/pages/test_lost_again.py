"""A recorded compaction made again: another summary beside the recorded one, anchor by anchor."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from compaction_app.resummaries import request_resummary
from compaction_app.tasks import resummarise
from sessions_app.models import Entry, Job, Session
from tests.compaction_app.compacting import connect
from tests.compaction_app.conftest import Bring
from tests.compaction_app.forgetful import RULES, forgetful
from tests.compaction_app.live import live_agent
from tests.conftest import Person
from tests.engine.builders import text_of
from tests.summarisers.loopback import openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    session = alice.imports(text_of(forgetful().entries).encode())
    session.agent = live_agent(alice)
    session.save(update_fields=["agent"])
    return session


def done(
    session: Session, number: int = 1, name: str = "extractive", keep: int | None = None
) -> Job:
    job = request_resummary(session, number, name, keep)
    resummarise(str(job.uuid))
    job.refresh_from_db()
    return job


def page(client: Client, session: Session, job: Job) -> str:
    answer = client.get(f"/sessions/{session.uuid}/lost/again/{job.uuid}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_summary_that_quotes_keeps_what_the_recorded_one_lost(
    alice: Person, session: Session
) -> None:
    entries = Entry.objects.count()
    job = done(session)
    assert job.state == "succeeded", job.error
    assert RULES[0] in job.result["text"]
    shown = page(alice.client, session, job)
    alone, _, rest = shown.partition("Lost by the new summary alone")
    assert all(rule in alone for rule in RULES)
    assert '<td class="n">3 of 3</td><td class="n">0 of 3</td>' in shown
    assert RULES[0] in rest  # in the new summary's text
    assert Entry.objects.count() == entries


def test_a_configured_model_is_asked_and_its_cost_told(alice: Person, session: Session) -> None:
    with serving(openai_stream(f"- {RULES[0]}")) as server:
        connect(session, server.url, input_price=10, output_price=100)
        job = done(session, name="mine")
        asked = str(server.seen[0][2])
    assert "legacy_invoices" in asked and "Which build was it" not in asked
    assert (job.state, float(job.result["cost"])) == ("succeeded", 0.003)
    shown = page(alice.client, session, job)
    assert "US$ 0.003" in shown and '<td class="n">3 of 3</td><td class="n">2 of 3</td>' in shown


def test_the_second_compaction_builds_on_the_recorded_summary_of_the_first(
    alice: Person, session: Session
) -> None:
    with serving(openai_stream("None.")) as server:
        connect(session, server.url)
        done(session, 2, "mine")
        asked = str(server.seen[0][2])
    assert "previous-summary" in asked and "legacy_invoices" not in asked


def test_it_can_be_cut_anew(alice: Person, session: Session) -> None:
    job = done(session, keep=1)
    assert job.state == "succeeded", job.error
    assert job.result["kept"] > done(session).result["kept"]
    assert "cut anew" in page(alice.client, session, job)


def test_a_cut_that_keeps_everything_loses_nothing(alice: Person, session: Session) -> None:
    job = done(session, keep=1_000_000)
    assert (job.state, job.result["kept"]) == ("succeeded", 0)
    assert "0 of 0" in page(alice.client, session, job)


def test_a_model_that_refuses_fails_the_job_with_its_reason(
    alice: Person, session: Session
) -> None:
    with serving(refusing(400, "too long for me")) as server:
        connect(session, server.url)
        job = done(session, name="mine")
    assert job.state == "failed" and "too long for me" in job.error
    assert "too long for me" in page(alice.client, session, job)


def test_the_form_offers_what_there_is_with_its_cost(alice: Person, session: Session) -> None:
    connect(session, "http://127.0.0.1:9", input_price=10, output_price=100)
    shown = alice.client.get(f"/sessions/{session.uuid}/lost/?compaction=1").content.decode()
    assert '<option value="extractive">' in shown and "US$" in shown
    asked = alice.client.post(
        f"/sessions/{session.uuid}/lost/again/",
        {"compaction": "1", "summariser": "extractive", "keep": ""},
    )
    job = Job.objects.get(kind="resummary")
    assert asked["Location"] == f"/sessions/{session.uuid}/lost/again/{job.uuid}/"
    assert "queued" in page(alice.client, session, job).lower()


@pytest.mark.parametrize(
    "wrong",
    [
        {"compaction": "9"},
        {"compaction": "²"},
        {"summariser": "nobody"},
        {"keep": "many"},
        {"keep": "0"},
        {"keep": "99999999999"},
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    alice: Person, session: Session, wrong: dict[str, str]
) -> None:
    values = {"compaction": "1", "summariser": "extractive", "keep": "", **wrong}
    answer = alice.client.post(f"/sessions/{session.uuid}/lost/again/", values, follow=True)
    assert answer.status_code == 200 and not Job.objects.filter(kind="resummary").exists()
    assert any(
        "session" in str(m) or "summariser" in str(m) or "tokens" in str(m)
        for m in answer.context["messages"]
    )


def test_other_methods_people_and_jobs(alice: Person, session: Session) -> None:
    job = request_resummary(session, 1, "extractive")
    address = f"/sessions/{session.uuid}/lost/again/"
    assert alice.client.get(address).status_code == 405
    assert alice.client.post(f"{address}{job.uuid}/").status_code == 405
    assert alice.client.get(f"{address}{session.uuid}/").status_code == 404
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger"))
    assert stranger.get(f"{address}{job.uuid}/").status_code == 404
    assert stranger.post(address, {"compaction": "1"}).status_code == 404
    assert Client().get(f"{address}{job.uuid}/").status_code == 302


def test_a_session_of_another_kind_of_file_can_be_made_again_too(bring: Bring) -> None:
    session = bring(forgetful())
    assert done(session).state == "succeeded"
