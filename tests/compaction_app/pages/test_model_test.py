"""The button that asks a model whether it answers."""

from __future__ import annotations

import threading
import time
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection as database
from django.test import Client
from django.urls import reverse

from compaction_app import model_tests
from compaction_app.models import ModelConnection
from compaction_app.sealed import seal
from compaction_app.tasks import test_model as ask_model
from sessions_app import jobs
from sessions_app.models import Agent, Job
from tests.compaction_app.live import live_agent
from tests.compaction_app.pages.page import HOSTILE
from tests.conftest import Person
from tests.summarisers.loopback import Loopback, openai_stream, refusing, serving

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-0123456789"


def model_at(person: Person, url: str, **fields: Any) -> ModelConnection:
    values: dict[str, Any] = {"name": "mine", "kind": "openai", "model": "m", **fields}
    return ModelConnection.objects.create(
        team=person.team, base_url=f"{url}/v1", sealed_key=seal(KEY), **values
    )


def agent_of(person: Person) -> Agent:
    return live_agent(person, compaction_summariser="mine", flush_summariser="mine")


def address(made: ModelConnection) -> str:
    return reverse("connection-test", args=[made.uuid])


def asked(person: Person, made: ModelConnection) -> Job:
    """Asked for on the page, and done as a worker does it."""
    assert person.client.post(address(made), headers={"HX-Request": "true"}).status_code == 200
    job = Job.objects.get(kind="model_test")
    ask_model(str(job.uuid))
    job.refresh_from_db()
    return job


def shown(person: Person, url: str) -> str:
    answer = person.client.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_model_that_answers_is_shown_with_its_answer(alice: Person) -> None:
    with serving(openai_stream("rea", "dy")) as server:
        made = model_at(alice, server.url, input_price=1, output_price=1)
        job = asked(alice, made)
        ((_, headers, body),) = server.seen
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body["max_tokens"] == 256 and len(body["messages"]) == 1
    assert job.state == "succeeded", job.error
    assert job.result["answer"] == "ready" and job.result["promptTokens"] == 100
    for url in (address(made), reverse("agent", args=[agent_of(alice).uuid])):
        html = shown(alice, url)
        assert "It answered in" in html and "<q>ready</q>" in html and "0.00012" in html


def test_an_answer_is_escaped_and_cut(alice: Person) -> None:
    with serving(openai_stream(HOSTILE + "\x00" + "x" * 5_000)) as server:
        made = model_at(alice, server.url)
        job = asked(alice, made)
    assert len(job.result["answer"]) == model_tests.SHOWN_CHARS
    for url in (address(made), reverse("job", args=[job.uuid])):
        html = shown(alice, url)
        assert HOSTILE not in html and "&lt;script&gt;" in html


def test_one_that_cannot_be_reached_says_where_and_what_to_do(alice: Person) -> None:
    with serving(openai_stream("gone")) as server:
        made = model_at(alice, server.url)
    job = asked(alice, made)
    assert job.state == "failed"
    assert f"(m at {server.url}/v1) cannot be reached" in job.error
    html = shown(alice, reverse("connection", args=[made.uuid]))
    assert "cannot be reached" in html and KEY not in html


def test_a_refused_key_is_not_shown(alice: Person) -> None:
    with serving(refusing(401, f"{KEY} is no key")) as server:
        job = asked(alice, model_at(alice, server.url))
        assert len(server.seen) == 1
    assert "refuses the key" in job.error and KEY not in job.error


def test_it_gives_up_after_a_while(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_tests, "TEST_SECONDS", 0.4)
    with serving(openai_stream("Hel", "lo", stall=20)) as server:
        began = time.monotonic()
        job = asked(alice, model_at(alice, server.url))
        assert time.monotonic() - began < 10
        assert server.hung_up.wait(5)
    assert job.state == "failed" and "no answer within 0.4 s" in job.error


def test_a_model_that_says_nothing_has_answered_without_a_word(alice: Person) -> None:
    with serving(openai_stream("")) as server:
        job = asked(alice, model_at(alice, server.url))
    assert job.result["summary"].endswith("without a word")


def test_two_clicks_are_one_test(alice: Person) -> None:
    made = model_at(alice, "http://127.0.0.1:9")
    for _ in range(2):
        alice.client.post(address(made), headers={"HX-Request": "true"})
    assert Job.objects.filter(kind="model_test").count() == 1
    html = shown(alice, address(made))
    assert "Waits for a worker" in html and "no worker was seen" in html
    assert f'hx-get="{address(made)}"' in html, "it asks again until the test has ended"


def test_without_scripts_it_leads_back_to_where_it_was_asked_for(
    alice: Person, bob: Person
) -> None:
    made, agent, other = model_at(alice, "http://127.0.0.1:9"), agent_of(alice), agent_of(bob)
    page = reverse("connection", args=[made.uuid])
    wanted = {
        str(agent.uuid): reverse("agent", args=[agent.uuid]) + "#summarisers",
        str(other.uuid): page, "//evil.example": page, str(uuid4()): page, "": page,
    }  # fmt: skip
    for given, url in wanted.items():
        assert alice.client.post(address(made), {"agent": given}).headers["Location"] == url


def test_models_of_others_are_not_there(alice: Person, bob: Person) -> None:
    made = model_at(alice, "http://127.0.0.1:9")
    assert bob.client.get(address(made)).status_code == 404
    assert bob.client.post(address(made)).status_code == 404
    assert alice.client.put(address(made)).status_code == 405
    assert Client().post(address(made)).status_code in (302, 403)
    assert Client(enforce_csrf_checks=True).post(address(made)).status_code in (302, 403)
    assert not Job.objects.filter(kind="model_test").exists()


def test_a_model_that_was_removed_meanwhile_fails_its_test(alice: Person) -> None:
    made = model_at(alice, "http://127.0.0.1:9")
    job = model_tests.request_test(made)
    made.delete()
    ask_model(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The model was removed.")


def test_a_key_of_another_site_says_so(alice: Person) -> None:
    made = model_at(alice, "http://127.0.0.1:9")
    made.sealed_key = "gAAAA-of another key"
    made.save()
    assert "SECRET_KEY" in asked(alice, made).error


def test_an_agent_without_a_model_has_nothing_to_test(alice: Person) -> None:
    agent = live_agent(alice, flush_summariser="gone")
    html = shown(alice, reverse("agent", args=[agent.uuid]))
    assert "Test this model" not in html and "works on this machine" in html
    assert "nobody knows it: extractive stands in" in html


@pytest.mark.django_db(transaction=True)
def test_a_test_is_cancelled_while_the_model_is_silent(alice: Person) -> None:
    with serving(openai_stream("Hel", "lo", stall=20)) as server:
        job = model_tests.request_test(model_at(alice, server.url))
        canceller = threading.Thread(target=_cancel_once_asked, args=(job, server))
        canceller.start()
        ask_model(str(job.uuid))
        canceller.join()
    job.refresh_from_db()
    assert job.state == "cancelled"


def _cancel_once_asked(job: Job, server: Loopback) -> None:
    while not server.seen:
        time.sleep(0.02)
    jobs.cancel(Job.objects.get(pk=job.pk))
    database.close()
