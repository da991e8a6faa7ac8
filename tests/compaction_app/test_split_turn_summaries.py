"""The two summaries of a split turn are asked for at the same time, as the runtime does (spec 2)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.db import connection

from compaction_app import compaction_jobs, live_turns
from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import CompactionRecord
from sessions_app import jobs
from sessions_app.models import Job, Session
from tests.compaction_app.compacting import boundaries, compacted, connect, done, talk
from tests.compaction_app.live import answer, calls, live_session, result, user
from tests.conftest import Person
from tests.summarisers.loopback import Loopback, Step, openai_stream, refusing, serving

pytestmark = pytest.mark.django_db


def split(person: Person) -> Session:
    """A session whose last turn is longer than what is kept."""
    session = live_session(person)
    talk(session, 2)
    long = "gamma delta " * 600
    for number in range(3):
        live_turns.append(
            session,
            [
                *([user("a long turn")] if number == 0 else []),
                calls(f"c{number}", prompt=9_000),
                result(f"c{number}", long),
            ],
        )
    live_turns.append(session, [answer("at last", prompt=9_500)])
    return session


@pytest.fixture
def session(alice: Person) -> Session:
    return split(alice)


def together(step: Step, gate: threading.Barrier) -> Step:
    """Answers once the other request is there, too."""

    def wait(handler: Any) -> None:
        gate.wait()
        step(handler)

    return wait


def test_both_are_asked_before_either_is_answered(session: Session) -> None:
    gate = threading.Barrier(2, timeout=10)
    with serving(together(openai_stream("said"), gate)) as server:
        connect(session, server.url, input_price=10, output_price=100)
        compacted(session)
        assert len(server.seen) == 2
    record = CompactionRecord.objects.get()
    history, prefix = record.calls
    assert (history["kind"], prefix["kind"]) == ("initial", "turnPrefix")
    assert [call["number"] for call in record.calls] == [1, 2]
    assert all(call["tries"][0]["outcome"] == "answered" for call in record.calls)
    assert all(call["promptTokens"] == 100 and call["seconds"] > 0 for call in record.calls)
    assert record.cost is not None and float(record.cost) == 0.006
    assert "**Turn Context (split turn):**" in boundaries(session)[0]["summary"]


def test_each_answer_is_put_where_it_belongs(session: Session) -> None:
    """The history's answer comes last, and still stands first."""

    def by_question(handler: Any) -> None:
        is_prefix = "beginning of one long turn" in str(handler.body)
        time.sleep(0 if is_prefix else 0.3)
        openai_stream("of the turn" if is_prefix else "of the history")(handler)

    with serving(by_question) as server:
        connect(session, server.url)
        compacted(session)
    summary = boundaries(session)[0]["summary"]
    assert summary.index("of the history") < summary.index("of the turn")
    assert [call["answer"] for call in CompactionRecord.objects.get().calls] == [
        "of the history", "of the turn",
    ]  # fmt: skip


def test_one_that_is_refused_fails_the_compaction(session: Session) -> None:
    with serving(refusing(400, "too long for me"), openai_stream("said")) as server:
        connect(session, server.url)
        job = done(request_compaction(session))
    assert job.state == "failed" and "too long for me" in job.error
    assert boundaries(session) == []
    assert sum("error" in call for call in CompactionRecord.objects.get().calls) == 1


def test_a_timeout_breaks_off_both(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction_jobs, "compaction_timeout_ms", lambda *_: 1_000)
    with serving(openai_stream("Hel", "lo", stall=20)) as server:
        connect(session, server.url)
        began = time.monotonic()
        job = done(request_compaction(session))
        assert time.monotonic() - began < 10
        assert server.hung_up.wait(5)
    assert (job.state, job.error) == ("failed", "Compaction timed out")


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_job_breaks_off_both(alice: Person) -> None:
    session = split(alice)
    with serving(openai_stream("Hel", "lo", stall=30)) as server:
        connect(session, server.url)
        job = request_compaction(session)
        canceller = threading.Thread(target=_cancel_once_both_are_asked, args=(job, server))
        canceller.start()
        began = time.monotonic()
        done(job)
        canceller.join()
        assert time.monotonic() - began < 20
    assert job.state == "cancelled"
    assert not CompactionRecord.objects.exists()


def _cancel_once_both_are_asked(job: Job, server: Loopback) -> None:
    while len(server.seen) < 2:
        time.sleep(0.02)
    jobs.cancel(Job.objects.get(pk=job.pk))
    connection.close()


def test_a_job_that_ends_waits_for_no_model(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the worker's own limit of time is over while both are being asked."""
    from compaction_app import summarising

    def over(*_: Any) -> Any:
        time.sleep(0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(summarising, "as_completed", over)
    with serving(openai_stream("Hel", "lo", stall=30)) as server:
        connect(session, server.url)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            done(request_compaction(session))
        assert time.monotonic() - began < 10


def test_a_summariser_of_this_process_is_asked_one_after_the_other(session: Session) -> None:
    compacted(session)
    record = CompactionRecord.objects.get()
    assert [call["kind"] for call in record.calls] == ["initial", "turnPrefix"]
    assert {call["summariser"] for call in record.calls} == {"extractive"}
