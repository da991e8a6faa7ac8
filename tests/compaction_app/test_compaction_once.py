"""A cycle is compacted once, whatever comes in meanwhile and whoever else is at it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from compaction_app import compaction_jobs, live_turns
from compaction_app.compaction_jobs import request_compaction
from compaction_app.compaction_writing import SAME_CYCLE
from compaction_app.models import CompactionRecord
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Entry, Job, Session
from tests.compaction_app.compacting import (
    at,
    boundaries,
    compacted,
    context_of,
    done,
    talk,
)
from tests.compaction_app.live import SMALL, answer, calls, live_session, result, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def test_what_came_in_meanwhile_stays_behind_the_cut(session: Session) -> None:
    def append() -> None:
        live_turns.append(session, [user("a word in between"), answer("heard", prompt=9_000)])

    for _ in at("summarised", append):
        compacted(session)
    texts = str(context_of(session))
    assert "a word in between" in texts and "heard" in texts
    assert Entry.objects.filter(window=window_of(session)).count() == 11
    assert CompactionRecord.objects.get().came_in == 2


def test_a_result_that_came_in_meanwhile_keeps_its_call(alice: Person) -> None:
    """Also behind a compaction that keeps nothing else: one by hand, without a configured tail."""
    free = {key: value for key, value in SMALL.items() if key != "compaction.keepRecentTokens"}
    session = live_session(alice, free)
    talk(session, 5, 3_000)
    live_turns.append(session, [user("read it"), calls("c1", prompt=9_000)])

    def append() -> None:
        live_turns.append(session, [result("c1", "what it says")])

    for _ in at("summarised", append):
        compacted(session)
    roles = [message["role"] for message in context_of(session)]
    assert roles == ["compactionSummary", "assistant", "toolResult"]


def test_a_cycle_is_compacted_once_whoever_was_faster(session: Session) -> None:
    second = request_compaction(session, instructions="again")

    def other_worker() -> None:
        Job.objects.filter(pk=second.pk).update(state="running", holder=None)
        other = jobs.Job.objects.get(pk=second.pk)
        compaction_jobs.compact(Held(other))

    for _ in at("summarised", other_worker):
        job = done(request_compaction(session))
    assert (job.state, job.error) == ("failed", SAME_CYCLE)
    assert len(boundaries(session)) == 1
    assert CompactionRecord.objects.filter(outcome="compacted").count() == 1


class Held:
    """A job that another worker holds, without a thread of its own."""

    stop = None

    def __init__(self, job: Job) -> None:
        self.job = job

    def check(self) -> None: ...
    def sure(self) -> None: ...
    def progress(self, *_: object) -> None: ...
    def note(self, *_: object) -> None: ...


def test_the_database_itself_refuses_a_second_compaction_of_a_cycle(session: Session) -> None:
    compacted(session)
    again = CompactionRecord.objects.get()
    again.pk = again.uuid = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save()


def test_a_second_compaction_continues_the_first(session: Session) -> None:
    compacted(session)
    talk(session)
    compacted(session)
    assert [r.cycle for r in CompactionRecord.objects.order_by("pk")] == [0, 1]
    session.refresh_from_db()
    assert session.index_entry["compactionCount"] == 2
    assert CompactionRecord.objects.last().calls[0]["previousChars"] > 0


def test_right_after_a_compaction_there_is_nothing_to_do(session: Session) -> None:
    compacted(session)
    job = compacted(session)
    assert job.result["summary"] == "Already compacted"
    assert len(boundaries(session)) == 1


def test_waiting_jobs_for_the_same_are_one(session: Session) -> None:
    assert request_compaction(session) == request_compaction(session)
    assert request_compaction(session, instructions="x") != request_compaction(session)
    with pytest.raises(ValueError, match="no trigger 'soon'"):
        request_compaction(session, trigger="soon")


@pytest.mark.parametrize("step", ["decided", "asking", "summarised"])
def test_a_cancelled_compaction_writes_nothing(session: Session, step: str) -> None:
    job = request_compaction(session)
    for _ in at(step, lambda: jobs.cancel(job)):
        done(job)
    assert job.state == "cancelled"
    assert boundaries(session) == []
    assert not CompactionRecord.objects.exists()
