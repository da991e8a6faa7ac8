"""A compaction that is done again goes on behind the portions that were answered before."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from compaction_app import kept_answers, live_turns, tasks
from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import CompactionRecord, KeptAnswer
from sessions_app import jobs
from sessions_app.models import Job, Session
from tests.compaction_app.compacting import at, boundaries, connect, done, talk
from tests.compaction_app.live import SMALL, answer, live_session, user
from tests.conftest import Person
from tests.summarisers.loopback import openai_stream, serving

pytestmark = pytest.mark.django_db
NARROW: dict[str, Any] = {
    **SMALL,
    "contextWindow": 12_000,
    "compaction.reserveTokens": 3_000,
    "compaction.reserveTokensFloor": 2_000,
    "compaction.mode": "safeguard",
    "compaction.qualityGuard.enabled": False,
    "compaction.recentTurnsPreserve": 0,
}
"""A narrow window makes several portions."""


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice, NARROW)
    talk(made, 8, 600)
    return made


def die() -> None:
    raise KeyboardInterrupt


def killed(job: Job, behind: str) -> None:
    """The worker dies behind the first step of this name, and its lease runs out."""
    with pytest.raises(KeyboardInterrupt):
        for _ in at(behind, die):
            done(job)
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_a_worker_that_died_is_followed_by_one_that_asks_only_for_the_rest(
    session: Session,
) -> None:
    with serving(openai_stream("part one"), openai_stream("the rest")) as server:
        connect(session, server.url, input_price=10, output_price=100)
        job = request_compaction(session)
        killed(job, "answered")
        assert len(server.seen) == 1
        done(job)
        assert job.state == "succeeded", job.error
        asked = [str(body["messages"][-1]["content"]) for _, _, body in server.seen]
    assert len(set(asked)) == len(asked), "nothing was asked twice"
    record = CompactionRecord.objects.get()
    first, *rest = record.calls
    assert len(record.calls) == len(asked) >= 2
    assert first["kept"] and first["answer"] == "part one" and first["number"] == 1
    assert (first["promptTokens"], first["tries"][0]["outcome"]) == (100, "answered")
    assert not any(call.get("kept") for call in rest)
    assert record.cost == Decimal("0.003") * len(asked)
    assert "call 1 was answered in an earlier attempt" in " ".join(n.text for n in job.lines.all())
    assert len(boundaries(session)) == 1


def test_what_is_written_needs_no_kept_answers(session: Session) -> None:
    job = request_compaction(session)
    killed(job, "answered")
    assert KeptAnswer.objects.filter(job=job).count() == 1
    done(job)
    assert job.state == "succeeded", job.error
    assert not KeptAnswer.objects.exists()


def test_a_job_that_a_person_does_again_goes_on_too(session: Session) -> None:
    with serving(openai_stream("part one"), openai_stream("the rest")) as server:
        connect(session, server.url)
        job = request_compaction(session)
        for _ in at("answered", lambda: jobs.cancel(job)):
            done(job)
        assert (job.state, len(server.seen)) == ("cancelled", 1)
        assert jobs.retry(job)
        done(job)
        assert job.state == "succeeded", job.error
        asked = [str(body["messages"][-1]["content"]) for _, _, body in server.seen]
    assert len(set(asked)) == len(asked) >= 2


def test_answers_are_for_the_same_question_alone(session: Session) -> None:
    with serving(openai_stream("old")) as server:
        connect(session, server.url)
        job = request_compaction(session)
        killed(job, "answered")
    with serving(openai_stream("new")) as server:
        session.team.connections.update(base_url=f"{server.url}/v1")
        done(job)
        assert job.state == "succeeded", job.error
        assert server.seen, "another server is asked itself"
    (entry,) = boundaries(session)
    assert "old" not in entry["summary"] and "new" in entry["summary"]
    assert not any(call.get("kept") for call in CompactionRecord.objects.get().calls)


def test_a_session_that_went_on_is_asked_for_what_has_changed(session: Session) -> None:
    with serving(openai_stream("one"), openai_stream("two")) as server:
        connect(session, server.url)
        job = request_compaction(session)
        killed(job, "answered")
        live_turns.append(session, [user("a word in between " * 400), answer("heard")])
        talk(session, 1, 600)
        done(job)
        assert job.state == "succeeded", job.error
        asked = [str(body["messages"][-1]["content"]) for _, _, body in server.seen]
    assert len(set(asked)) == len(asked)
    assert any("a word in between" in question for question in asked)


def test_a_text_that_no_database_holds_is_asked_for_again(session: Session) -> None:
    job = request_compaction(session)
    kept = kept_answers.KeptAnswers(job)
    kept.keep("a:1", "with a \x00", {"number": 1})
    kept.keep("b:1", "with a \ud800", {"number": 2})
    assert not KeptAnswer.objects.exists()
    kept.keep("c:1", "日本語", {"number": 3, "answer": "日本語", "seconds": 1.5})
    assert kept_answers.KeptAnswers(job).answer("c:1") == ("日本語", {"seconds": 1.5})


def test_what_nobody_came_back_for_is_dropped(session: Session) -> None:
    waits, ended = request_compaction(session), request_compaction(session, instructions="x")
    jobs.cancel(ended)
    for job in (waits, ended):
        KeptAnswer.objects.create(job=job, question="q", answer="a")
    tasks.drop_old_decisions()
    assert KeptAnswer.objects.count() == 2
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(days=8))
    tasks.drop_old_decisions()
    assert KeptAnswer.objects.get().job == waits
