"""The memory flush of a session by a worker: decided again, carried out in silence, its notes kept once."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from compaction_app import live_turns
from compaction_app.compaction_jobs import request_compaction
from compaction_app.engine.silent_reply import OPENCLAW_2026_5_28
from compaction_app.flush_dialogue import HeldBack, spoken
from compaction_app.flush_jobs import request_flush
from compaction_app.memory import text_of
from compaction_app.models import (
    CompactionRecord,
    Decision,
    FlushRecord,
    MemoryFile,
    MemoryNote,
    ModelConnection,
)
from compaction_app.tasks import compact_session, flush_session
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Entry, Event, Job, Session
from sessions_app.rows import entries_of_window
from sessions_app.tokens import javascript as js
from sessions_app.workspace import write_files
from tests.builders import short_session
from tests.compaction_app.live import SMALL, answer, live_agent, live_session, user
from tests.compaction_app.test_compaction_jobs import at, talk
from tests.conftest import Person, Settings
from tests.summarisers.loopback import Loopback, openai_calls, openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    """A session at its flush line: the next turn begins with a flush."""
    made = live_session(alice)
    fill(made)
    return made


def fill(session: Session) -> None:
    talk(session)
    live_turns.append(session, [user("more"), answer("yes", prompt=25_000)])


def done(job: Job) -> Job:
    flush_session(str(job.uuid))
    job.refresh_from_db()
    return job


def flushed(session: Session, **arguments: Any) -> FlushRecord:
    job = done(request_flush(session, **arguments))
    assert job.state == "succeeded", job.error
    return FlushRecord.objects.get(uuid=job.result["record"])


def connect(session: Session, url: str, **fields: Any) -> None:
    values: dict[str, Any] = {"kind": "openai", "name": "mine", "model": "m"}
    ModelConnection.objects.create(team=session.team, base_url=f"{url}/v1", **(values | fields))
    assert session.agent is not None
    session.agent.flush_summariser = "mine"
    session.agent.save()


def path_of(session: Session) -> str:
    """Where a flush of today writes; a test that runs over midnight asks again."""
    record = FlushRecord.objects.filter(session=session).last()
    return record.file if record else ""


def today(handler_body: Any) -> str:
    system = str(handler_body["messages"][0]["content"])
    at = system.index("memory/2")
    return system[at : at + len("memory/2026-01-01.md")]


# Without a model


def test_without_a_model_the_summariser_writes_the_note(session: Session) -> None:
    record = flushed(session, trigger="due", prompt=user("And now?"))
    assert (record.outcome, record.notes, record.summariser) == ("written", 1, "extractive")
    note = MemoryNote.objects.get()
    assert "Question 3" in note.text and note.text.startswith("## 20")
    assert (note.session, note.file.agent) == (session, session.agent)
    assert note.file.name == record.file
    session.refresh_from_db()
    assert session.index_entry["memoryFlushCompactionCount"] == 0


def test_the_turn_is_silent_and_the_session_shows_that_it_was(session: Session) -> None:
    before = Entry.objects.filter(window=window_of(session)).count()
    flushed(session)
    entries = list(entries_of_window(window_of(session)))[before:]
    assert [(e.role, e.mark) for e in entries] == [("user", "flush"), ("assistant", "flush")]
    assert entries[1].record["message"]["content"][0]["text"] == "NO_REPLY"
    kinds = list(Event.objects.filter(session=session).values_list("kind", flat=True))
    assert kinds[-1] == "flush"


def test_after_the_flush_the_turn_is_sent(session: Session) -> None:
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "flush"
    flushed(session, trigger="due", prompt=prompt)
    session.refresh_from_db()
    assert live_turns.prepare(session, prompt).next.action in ("send", "compact")
    assert Decision.objects.filter(session=session, rule="memory_flush", fired=True).count() == 1


def test_a_cycle_is_flushed_once(session: Session) -> None:
    flushed(session)
    record = flushed(session)
    assert (record.outcome, record.reason) == ("skipped", "already_flushed_in_cycle")
    assert MemoryNote.objects.count() == 1


def test_what_is_not_due_is_skipped_with_its_reason(alice: Person) -> None:
    session = live_session(alice)
    talk(session, 1, 10)
    record = flushed(session, trigger="due", prompt=user("Hi"))
    assert (record.outcome, record.reason) == ("skipped", "below_threshold")
    assert not MemoryFile.objects.exists()


@pytest.mark.parametrize(
    ("settings", "fields", "reason"),
    [
        ({"compaction.memoryFlush.enabled": False}, {}, "no_flush_plan"),
        ({}, {"provider": "claude-cli"}, "cli_provider"),
        (
            {},
            {"config_text": '{"agents": {"defaults": {"sandbox": {"mode": "all"}}}}'},
            "workspace_not_writable",
        ),
    ],
)
def test_an_agent_that_cannot_flush_is_skipped(
    alice: Person, settings: dict[str, Any], fields: dict[str, Any], reason: str
) -> None:
    session = live_session(alice, {**SMALL, **settings}, **fields)
    fill(session)
    record = flushed(session)
    assert (record.outcome, record.reason) == ("skipped", reason)
    assert MemoryNote.objects.count() == 0


def test_a_large_transcript_forces_a_flush(alice: Person) -> None:
    session = live_session(
        alice, {**SMALL, "compaction.memoryFlush.forceFlushTranscriptBytes": 10_000}
    )
    talk(session, 2)
    record = flushed(session, trigger="due", prompt=user("Hi"))
    assert (record.outcome, record.reason) == ("written", "forced_by_transcript_size")


# With a model


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
    assert FlushRecord.objects.get().outcome == "failed"
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


def test_where_the_session_went_on_the_silent_turn_is_only_in_the_record(session: Session) -> None:
    def append() -> None:
        live_turns.append(session, [user("meanwhile")])

    for _ in at("carried out", append):
        flushed(session)
    last = list(entries_of_window(window_of(session)))[-1]
    assert last.record["message"]["content"][0]["text"] == "meanwhile"
    assert MemoryNote.objects.count() == 1


# Order, files, copies


def test_a_due_flush_goes_before_a_due_compaction(session: Session) -> None:
    job = request_compaction(session, trigger="budget", prompt=user("And now?"))
    compact_session(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "succeeded", job.error
    assert MemoryNote.objects.count() == 1
    assert CompactionRecord.objects.get().outcome == "compacted"
    assert any("the flush before the compaction: 1 note" in n.text for n in job.lines.all())


def test_a_flush_that_fails_does_not_keep_the_compaction(session: Session) -> None:
    with serving(refusing(401)) as server:
        connect(session, server.url)
        job = request_compaction(session, trigger="budget", prompt=user("And now?"))
        compact_session(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "succeeded", job.error
    assert CompactionRecord.objects.get().outcome == "compacted"


def test_an_agent_that_flushes_itself_is_waited_for(alice: Person) -> None:
    session = live_session(alice, flush_by="agent")
    fill(session)
    job = request_compaction(session, trigger="budget", prompt=user("And now?"))
    compact_session(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed", "A memory flush goes first, and the agent carries it out itself.",
    )  # fmt: skip


def test_the_next_cycle_is_flushed_again_behind_what_is_there(session: Session) -> None:
    flushed(session)
    job = request_compaction(session)
    compact_session(str(job.uuid))
    fill(session)
    flushed(session)
    first, second = MemoryNote.objects.order_by("pk")
    assert first.flush != second.flush
    text = text_of(first.file) + (text_of(second.file) if second.file != first.file else "")
    assert first.text in text and second.text in text


def test_the_day_is_that_of_the_agent(alice: Person) -> None:
    names = set()
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # 25 hours apart
        session = live_session(alice, name=zone, time_zone=zone)
        fill(session)
        names.add(flushed(session).file)
    assert len(names) == 2


def test_notes_are_mirrored_to_a_folder_and_nothing_there_is_overwritten(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.MEMORY_FOLDER = str(tmp_path)
    record = flushed(session)
    (file,) = tmp_path.rglob("*.md")
    assert file.relative_to(file.parents[1]).as_posix() == record.file
    note = MemoryNote.objects.get()
    assert file.read_text() == f"{note.text}\n" and note.is_mirrored
    MemoryNote.objects.update(is_mirrored=False)  # as a crash right behind the write leaves it
    file.write_text("my own line\n" + file.read_text())
    compact_session(str(request_compaction(session).uuid))
    fill(session)
    flushed(session)
    text = file.read_text()
    assert text.startswith("my own line\n")
    assert text.count(note.text) == 1
    assert MemoryNote.objects.filter(is_mirrored=False).count() == 0


def test_a_worker_that_died_before_the_mirror_is_followed_by_one_that_mirrors(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.MEMORY_FOLDER = str(tmp_path)

    def die() -> None:
        raise KeyboardInterrupt

    job = request_flush(session)
    with pytest.raises(KeyboardInterrupt):
        for _ in at("committed", die):
            done(job)
    assert list(tmp_path.rglob("*.md")) == []
    Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    done(job)
    assert job.state == "succeeded"
    (file,) = tmp_path.rglob("*.md")
    assert file.read_text() == f"{MemoryNote.objects.get().text}\n"


def test_a_folder_that_cannot_be_written_to_loses_nothing(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    settings.MEMORY_FOLDER = str(blocked)
    flushed(session)
    assert MemoryNote.objects.get().is_mirrored is False
    assert "cannot be written to" in Job.objects.get().lines.get(level="warning").text


def test_a_recording_is_flushed_on_a_copy(alice: Person) -> None:
    recording = alice.imports(short_session(turns=3).data())
    record = flushed(recording)
    assert record.session != recording and record.session.is_live
    assert Entry.objects.filter(window=window_of(recording)).count() == 12


def test_waiting_flushes_of_a_session_are_one(alice: Person) -> None:
    from sessions_app.live_sessions import create_session

    agent = live_agent(alice)
    one, two = create_session(agent), create_session(agent)
    assert request_flush(one) == request_flush(one)
    assert request_flush(one) != request_flush(two)


# Text on its way out


@pytest.mark.parametrize(
    ("pieces", "out"),
    [
        (("NO", "_REP", "LY"), ""),
        (("NO_REPLY", " and more"), ""),
        ((" no_", "reply"), ""),
        (("No", ", I do not think so"), "No, I do not think so"),
        (("Yes", ", ", "of course"), "Yes, of course"),
        (("", "N", "ow"), "Now"),
    ],
)
def test_streamed_text_is_held_back_while_it_may_be_silence(
    pieces: tuple[str, ...], out: str
) -> None:
    heard: list[str] = []
    held = HeldBack(heard.append)
    for piece in pieces:
        held.add(piece)
    assert "".join(heard) == out


@given(st.lists(st.text(max_size=5)))
def test_what_is_let_out_is_all_or_nothing_of_the_text(pieces: list[str]) -> None:
    heard: list[str] = []
    held = HeldBack(heard.append)
    for piece in pieces:
        held.add(piece)
    whole = "".join(pieces)
    assert "".join(heard) in ("", whole)
    lead = js.trim_start(whole).upper()
    assert bool("".join(heard)) is not ("NO_REPLY".startswith(lead) or lead.startswith("NO_REPLY"))


def test_silence_is_not_spoken() -> None:
    assert spoken("NO_REPLY", OPENCLAW_2026_5_28) == ""
    assert spoken("Hello NO_REPLY", OPENCLAW_2026_5_28) == "Hello"
