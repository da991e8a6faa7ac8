"""The silent turn of a memory flush on a model: its tools, its silence, its failures."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.db import connection

from compaction_app import live_turns
from compaction_app.flush_jobs import request_flush
from compaction_app.models import (
    FlushRecord,
    MemoryNote,
)
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Event, Job, Session
from sessions_app.rows import entries_of_window
from sessions_app.workspace import write_files
from tests.compaction_app.flushing import connect, done, fill, flushed, today
from tests.compaction_app.live import SMALL, live_session, user
from tests.conftest import Person
from tests.summarisers.loopback import Loopback, openai_calls, openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    """A session at its flush line: the next turn begins with a flush."""
    made = live_session(alice)
    fill(made)
    return made


def test_a_model_reads_and_appends(session: Session) -> None:
    write_files(session.agent, {"AGENTS.md": "Be brief."})  # type: ignore[arg-type]

    def write(handler: Any) -> None:
        body = handler.server.seen[-1][2]
        call = {"path": today(body), "content": "- the port is 8443"}
        openai_calls(("read", {"path": "AGENTS.md"}), ("write", call))(handler)

    with serving(write, openai_stream("NO_", "REPLY")) as server:
        connect(session, server.url, input_price=1, output_price=1)
        record = flushed(session, trigger="due", prompt=user("And now?"))
        first, second = (body for _, _, body in server.seen)
    assert (record.outcome, record.notes, record.reply) == ("written", 1, "")
    assert MemoryNote.objects.get().text == "- the port is 8443"
    assert [tool["function"]["name"] for tool in first["tools"]] == ["read", "write"]
    assert first["messages"][-1]["content"] == "Continue the OpenClaw runtime event."
    assert "Pre-compaction memory flush" in first["messages"][0]["content"]
    results = [m["content"] for m in second["messages"] if m["role"] == "tool"]
    assert results[0] == "Be brief." and results[1].startswith("Appended 18 characters")
    assert len(record.calls) == 2 and record.calls[0]["tools"] == ["read", "write"]
    roles = [e.role for e in entries_of_window(window_of(session))][-5:]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "assistant"]


def test_only_the_file_of_the_day_can_be_written(session: Session) -> None:
    calls = [
        ("write", {"path": "MEMORY.md", "content": "mine"}),
        ("write", {"path": "../../etc/passwd", "content": "mine"}),
        ("read", {"path": "../secret_key"}),
        ("delete", {"path": "MEMORY.md"}),
        ("write", "{no json"),
    ]
    with serving(openai_calls(*calls), openai_stream("NO_REPLY")) as server:
        connect(session, server.url)
        record = flushed(session)
    assert (record.outcome, record.notes) == ("silent", 0)
    assert not MemoryNote.objects.exists()
    results = [m for m in record.dialogue if m["role"] == "toolResult"]
    assert [m["isError"] for m in results] == [True] * 5


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (("The port is ", "8443.\n", "NO_REPLY"), "The port is 8443."),
        (("NO_REPLY",), None),
        (("  no_reply\n",), None),
        (("<think>nothing new</think>NO_REPLY",), None),
        (('{"action": "NO_REPLY"}',), None),
        (("NO_REPLY\n\nBut the port is 8443.",), "But the port is 8443."),
    ],
)
def test_without_tools_the_answer_is_the_note(
    session: Session, said: tuple[str, ...], note: str | None
) -> None:
    with serving(openai_stream(*said)) as server:
        connect(session, server.url, takes_tools=False)
        record = flushed(session)
        assert "tools" not in server.seen[0][2]
    assert [n.text for n in MemoryNote.objects.all()] == ([note] if note else [])
    assert record.outcome == ("written" if note else "silent")
    assert record.reply == ""


def test_a_server_that_refuses_tools_is_asked_without(session: Session) -> None:
    with serving(refusing(400, "m does not support tools"), openai_stream("Port 8443.")) as server:
        connect(session, server.url)
        record = flushed(session)
    assert MemoryNote.objects.get().text == "Port 8443."
    assert len(record.calls) == 2
    assert "without them" in Job.objects.get(kind="flush").lines.get(level="warning").text


def test_what_a_model_with_tools_says_aloud_is_no_note(session: Session) -> None:
    with serving(openai_stream("Tell the user about the port.")) as server:
        connect(session, server.url)
        record = flushed(session)
    assert (record.notes, record.reply) == (0, "Tell the user about the port.")
    assert Event.objects.filter(kind="flush").get().data["reply"] == record.reply


def test_a_model_that_never_stops_calling_is_stopped(session: Session) -> None:
    with serving(openai_calls(("read", {"path": "x"}))) as server:
        connect(session, server.url)
        record = flushed(session)
        assert len(server.seen) == 8
    assert record.outcome == "silent"


def test_the_model_of_the_plan_is_the_one_that_is_asked(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.memoryFlush.model": "other"})
    fill(session)
    with serving(openai_stream("NO_REPLY")) as server:
        connect(session, server.url, name="other", model="the other")
        assert session.agent is not None
        session.agent.flush_summariser = "extractive"
        session.agent.save()
        flushed(session)
        assert server.seen[0][2]["model"] == "the other"


def test_a_flush_that_fails_says_so_and_the_turn_goes_on(session: Session) -> None:
    prompt = user("And now?")
    with serving(refusing(401, "no such key")) as server:
        connect(session, server.url)
        job = done(request_flush(session, trigger="due", prompt=prompt))
    assert job.state == "failed"
    assert job.error.startswith("⚠️") and "no such key" in job.error
    assert '"mine" (m at http://127.0.0.1' in job.error and "refuses the key" in job.error
    record = FlushRecord.objects.get()
    assert record.outcome == "failed" and "refuses the key" in record.message
    assert not MemoryNote.objects.exists()
    session.refresh_from_db()
    assert live_turns.prepare(session, prompt).next.action != "flush"


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_flush_breaks_off_the_call_and_writes_nothing(alice: Person) -> None:
    session = live_session(alice)
    fill(session)
    with serving(openai_stream("Hel", "lo", stall=30)) as server:
        connect(session, server.url)
        job = request_flush(session)
        canceller = threading.Thread(target=_cancel_once_asked, args=(job, server))
        canceller.start()
        began = time.monotonic()
        done(job)
        canceller.join()
        assert time.monotonic() - began < 20
        assert server.hung_up.wait(5)
    assert job.state == "cancelled"
    assert not FlushRecord.objects.exists() and not MemoryNote.objects.exists()


def _cancel_once_asked(job: Job, server: Loopback) -> None:
    while not server.seen:
        time.sleep(0.02)
    jobs.cancel(Job.objects.get(pk=job.pk))
    connection.close()


def test_what_a_flush_costs_is_recorded(session: Session) -> None:
    with serving(openai_stream("Port 8443.")) as server:
        connect(session, server.url, takes_tools=False, input_price=10, output_price=100)
        record = flushed(session)
    (call,) = record.calls
    assert (call["promptTokens"], call["outputTokens"]) == (100, 20)
    assert record.cost is not None and float(record.cost) == 0.003


def test_configured_prompts_reach_the_model_with_the_token_they_need(alice: Person) -> None:
    session = live_session(
        alice,
        {
            **SMALL,
            "compaction.memoryFlush.prompt": "Note the ports.",
            "compaction.memoryFlush.systemPrompt": "You keep notes.",
        },
    )
    fill(session)
    with serving(openai_stream("NO_REPLY")) as server:
        connect(session, server.url)
        flushed(session)
        messages = server.seen[0][2]["messages"]
    told = messages[0]["content"] + messages[-1]["content"]
    assert "Note the ports." in told and "You keep notes." in told
    assert "NO_REPLY" in told, "both ask for silence, also where the configuration forgot it"


@pytest.mark.parametrize(("said", "aloud"), [("NO_REPLY and then some", 0), ("Hello there", 1)])
def test_streamed_text_is_let_out_only_where_it_is_no_silence(
    session: Session, said: str, aloud: int
) -> None:
    with serving(openai_stream(*said)) as server:  # letter by letter
        connect(session, server.url)
        flushed(session)
    lines = Job.objects.get(kind="flush").lines.filter(text__contains="spoke aloud")
    assert lines.count() == aloud
