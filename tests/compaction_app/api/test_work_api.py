"""The API that starts work: what must happen first, compaction, memory flush, an agent's own notes."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import AsyncClient

from compaction_app.memory import text_of
from compaction_app.models import CompactionRecord, FlushRecord, MemoryFile
from sessions_app import jobs
from sessions_app.models import Agent, Entry, Job, Session
from tests.api_client import ApiClient, api_of
from tests.builders import short_session
from tests.compaction_app.compacting import talk
from tests.compaction_app.live import SMALL, answer, live_session, user
from tests.conftest import Person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("at_work")]
FULL = 25_000
"""Billed tokens of a last call beyond the flush and preflight lines (24,000), below the inner
threshold (26,000)."""
ROOMY = {**SMALL, "compaction.reserveTokens": 6_000}


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice, ROOMY)
    talk(made)
    return made


@pytest.fixture
def api(alice: Person) -> ApiClient:
    return api_of(alice.team, "write")


@pytest.fixture
def asleep(at_work: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker takes up a job."""
    monkeypatch.setattr(jobs, "wake", lambda job: None)


def fill(api: ApiClient, session: Session) -> None:
    turn = {"messages": [user("more"), answer("yes", prompt=FULL)]}
    api.post(f"/sessions/{session.uuid}/calls", turn)


def prepare(api: ApiClient, session: Session, wait: float = 0) -> Any:
    address = f"/sessions/{session.uuid}/prepare?wait={wait}"
    return api.post(address, {"prompt": user("next")})


@pytest.mark.usefixtures("asleep")
def test_the_same_question_has_the_same_answer_and_the_same_job(
    session: Session, api: ApiClient
) -> None:
    fill(api, session)
    first, again = prepare(api, session), prepare(api, session)
    assert (first["action"], first["messages"]) == ("flush", None)
    assert first["job"] == again["job"]
    assert first["head"] == again["head"]
    assert Job.objects.filter(kind="flush").count() == 1
    told = api.get(f"/jobs/{first['job']}")
    assert (told["state"], told["session"]) == ("queued", str(session.uuid))


def test_who_waits_is_answered_when_everything_has_happened(
    session: Session, api: ApiClient
) -> None:
    fill(api, session)
    got = prepare(api, session, wait=60)
    assert got["action"] == "send", got
    assert FlushRecord.objects.get().outcome == "written"
    record = CompactionRecord.objects.get()
    assert FlushRecord.objects.get().cycle == 0
    assert got["messages"][-1]["content"] == user("next")["content"]
    assert record.entry_id in [entry.entry_id for entry in Entry.objects.filter(type="compaction")]


@pytest.mark.usefixtures("asleep")
def test_waiting_ends_with_the_time(session: Session, api: ApiClient) -> None:
    fill(api, session)
    got = prepare(api, session, wait=0.3)
    assert (got["action"], got["job"] is not None) == ("flush", True)


def test_many_who_wait_hold_no_threads(session: Session, api: ApiClient) -> None:
    """More waiting requests than there are threads in the pool are all answered."""
    job = Job.objects.create(team=session.team, kind="import", title="slow")
    address, headers = f"/api/v1/jobs/{job.uuid}?wait=60", {"Authorization": f"Bearer {api.secret}"}

    async def run() -> list[str]:
        waiting = [
            asyncio.create_task(AsyncClient().get(address, headers=headers)) for _ in range(30)
        ]
        await asyncio.sleep(0.5)
        assert not any(task.done() for task in waiting)
        await Job.objects.filter(pk=job.pk).aupdate(state=Job.State.SUCCEEDED)
        return [
            json.loads(answered.content)["state"] for answered in await asyncio.gather(*waiting)
        ]

    assert asyncio.run(run()) == ["succeeded"] * 30


def test_an_agent_that_flushes_itself_gets_the_turn_and_posts_its_notes(
    session: Session, api: ApiClient
) -> None:
    Agent.objects.update(flush_by="agent")
    fill(api, session)
    got = prepare(api, session)
    assert (got["action"], got["job"]) == ("flush", None)
    turn = got["flushTurn"]
    assert turn["target"].startswith("memory/")
    assert "NO_REPLY" in turn["systemPrompt"] + turn["prompt"]
    body = {"notes": ["- Deploy on Friday.", " "], "reply": "NO_REPLY"}
    job = api.post(f"/sessions/{session.uuid}/flush/notes", body)
    assert api.get(f"/jobs/{job['id']}")["state"] == "succeeded"
    file = MemoryFile.objects.get()
    assert (file.name, text_of(file)) == (turn["target"], "- Deploy on Friday.\n")
    again = api.post(f"/sessions/{session.uuid}/flush/notes", {"notes": ["- twice"]})
    assert api.get(f"/jobs/{again['id']}")["result"]["notes"] == 0
    assert text_of(file) == "- Deploy on Friday.\n", "once in a cycle"
    assert prepare(api, session, wait=60)["action"] == "send"


def test_a_silent_reply_is_no_note_and_another_one_is(alice: Person, api: ApiClient) -> None:
    for number, (reply, notes) in enumerate((("NO_REPLY", 0), ("Remember the tea.", 1))):
        session = live_session(alice, name=f"agent {number}", flush_by="agent")
        talk(session)
        job = api.post(f"/sessions/{session.uuid}/flush/notes", {"reply": reply})
        assert api.get(f"/jobs/{job['id']}")["result"]["notes"] == notes


def test_a_manual_compaction_takes_instructions(session: Session, api: ApiClient) -> None:
    body = {"instructions": "keep the questions"}
    job = api.post(f"/sessions/{session.uuid}/compact", body)
    told = api.get(f"/jobs/{job['id']}?wait=30")
    assert (told["state"], told["result"]["compacted"]) == ("succeeded", True)
    assert CompactionRecord.objects.get().trigger == "manual"


def test_an_imported_session_is_compacted_on_a_copy(alice: Person, api: ApiClient) -> None:
    imported = alice.imports(short_session().data())
    job = api.post(f"/sessions/{imported.uuid}/compact", {})
    told = api.get(f"/jobs/{job['id']}")
    assert told["state"] in ("succeeded", "failed")
    assert Entry.objects.filter(window__session=imported).count() == imported.entry_count
    assert Session.objects.count() == 2


def test_an_overflow_starts_its_compaction(session: Session, api: ApiClient) -> None:
    error = "prompt is too long: 33000 tokens > 32000 maximum"
    got = api.post(f"/sessions/{session.uuid}/calls", {"messages": [user("big")], "error": error})
    assert got["action"] == "compact"
    told = api.get(f"/jobs/{got['job']}?wait=30")
    assert told["state"] == "succeeded", told
    follow = api.post(f"/sessions/{session.uuid}/prepare", {})
    assert follow["action"] == "send"
    assert follow["messages"][-1]["content"] == user("big")["content"]


@pytest.mark.usefixtures("asleep")
def test_jobs_are_listed_cancelled_and_done_again(
    session: Session, api: ApiClient, alice: Person
) -> None:
    first = api.post(f"/sessions/{session.uuid}/compact", {})
    second = api.post(f"/sessions/{session.uuid}/flush", None)
    listed = api.get("/jobs")["items"]
    assert [job["id"] for job in listed] == [second["id"], first["id"]]
    assert [job["id"] for job in api.get("/jobs?kind=flush")["items"]] == [second["id"]]
    assert api.get(f"/jobs?session={uuid4()}")["items"] == []
    page = api.get("/jobs?limit=1")
    assert api.get(f"/jobs?before={page['next']}")["items"][0]["id"] == first["id"]
    assert api.call("POST", f"/jobs/{first['id']}/retry")[0] == 409
    assert api.post(f"/jobs/{first['id']}/cancel", None)["state"] == "cancelled"
    assert api.post(f"/jobs/{first['id']}/retry", None)["state"] == "queued"
    assert api_of(alice.team, "read").call("POST", f"/jobs/{first['id']}/cancel")[0] == 403


def test_other_teams_and_unknown_ids_are_404(alice: Person, bob: Person, api: ApiClient) -> None:
    theirs = live_session(bob)
    job = Job.objects.create(team=bob.team, kind="import", title="theirs")
    for uuid in (theirs.uuid, uuid4()):
        for part in ("compact", "flush/notes"):
            assert api.call("POST", f"/sessions/{uuid}/{part}", {})[0] == 404
        assert api.call("POST", f"/sessions/{uuid}/flush")[0] == 404
    for uuid in (job.uuid, uuid4()):
        assert api.call("GET", f"/jobs/{uuid}")[0] == 404
        for part in ("cancel", "retry"):
            assert api.call("POST", f"/jobs/{uuid}/{part}")[0] == 404
    assert api.call("GET", f"/jobs/{job.uuid}?wait=121")[0] == 422
