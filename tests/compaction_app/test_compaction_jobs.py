"""The compaction of a session by a worker: decided again, made, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from compaction_app import compaction_jobs, live_turns, step_log
from compaction_app.compaction_jobs import request_compaction
from compaction_app.compaction_writing import SAME_CYCLE
from compaction_app.models import CompactionRecord, Decision, ModelConnection
from compaction_app.sealed import seal
from compaction_app.tasks import compact_session
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Entry, Event, Job, Session
from sessions_app.rows import entries_of_window
from sessions_app.transcripts.session_context import context_of_path
from tests.builders import short_session
from tests.compaction_app.live import SMALL, answer, calls, live_session, result, user
from tests.conftest import Person
from tests.summarisers.loopback import openai_stream, refusing, serving

pytestmark = pytest.mark.django_db

STRUCTURED = "## Decisions\nNone.\n\n## Open TODOs\nNone.\n\n## Constraints/Rules\nNone.\n\n## Pending user asks\nGo on\n\n## Exact identifiers\nNone."  # fmt: skip


def talk(session: Session, turns: int = 4, words: int = 800) -> None:
    for number in range(turns):
        live_turns.append(
            session,
            [
                user(f"Question {number}: " + "alpha beta " * words),
                answer(f"Answer {number}", prompt=2_000 * (number + 1)),
            ],
        )


@pytest.fixture
def session(alice: Person) -> Session:
    made = live_session(alice)
    talk(made)
    return made


def done(job: Job) -> Job:
    compact_session(str(job.uuid))
    job.refresh_from_db()
    return job


def compacted(session: Session, **arguments: Any) -> Job:
    job = done(request_compaction(session, **arguments))
    assert job.state == "succeeded", job.error
    return job


def boundaries(session: Session) -> list[dict[str, Any]]:
    found = entries_of_window(window_of(session))
    return [dict(entry.record) for entry in found if entry.type == "compaction"]


def context_of(session: Session) -> list[Any]:
    return list(context_of_path([e.record for e in entries_of_window(window_of(session))]).messages)


def at(name: str, act: Callable[[], object]) -> Iterator[None]:
    """Do something once, when the step of that name is done."""
    left = [act]

    def hook(step: str) -> None:
        if step == name and left:
            left.pop()()

    step_log.after_each_step(hook)
    try:
        yield
    finally:
        step_log._after_step.remove(hook)


def test_a_session_is_compacted_with_everything_that_explains_it(session: Session) -> None:
    job = compacted(session)
    (entry,) = boundaries(session)
    record = CompactionRecord.objects.get()
    assert (record.outcome, record.entry_id, record.cycle) == ("compacted", entry["id"], 0)
    assert (record.session, record.team, record.job) == (session, session.team, job)
    assert record.tokens_before and record.tokens_after is not None
    assert record.tokens_after < record.tokens_before
    assert record.record["entryId"] == entry["id"]
    (call,) = record.calls
    assert (call["summariser"], call["portion"]) == ("extractive", [1, 1])
    assert call["promptChars"] > 1_000 and call["answer"] in entry["summary"]
    session.refresh_from_db()
    assert session.index_entry["compactionCount"] == 1
    assert session.queued and "Compacted" in session.queued[0]
    assert job.result["record"] == str(record.uuid)
    assert next(line.text for line in job.lines.all()) == "cycle 0: to be compacted"
    rules = set(Decision.objects.filter(session=session).values_list("rule", flat=True))
    assert {"compaction", "compaction_cut", "manual_boundary"} <= rules
    kinds = list(Event.objects.filter(session=session).values_list("kind", flat=True))
    assert kinds[-1] == "compaction"


def test_the_user_is_told_where_the_policy_says_so(alice: Person) -> None:
    session = live_session(alice, {**SMALL, "compaction.notifyUser": True})
    talk(session)
    compacted(session)
    told = Event.objects.filter(session=session, kind="status").order_by("sequence")
    assert [event.data["text"] for event in told] == [
        "🧹 Compacting context...", "🧹 Compaction complete",
    ]  # fmt: skip


def test_instructions_reach_the_summariser(session: Session) -> None:
    with serving(openai_stream("A summary")) as server:
        connect(session, server.url)
        compacted(session, instructions="the schema of the database")
        assert "Additional focus: the schema of the database" in str(server.seen[0][2])
    assert CompactionRecord.objects.get().instructions == "the schema of the database"


def connect(session: Session, url: str, **fields: Any) -> ModelConnection:
    values = {"kind": "openai", "name": "mine", "model": "m", "sealed_key": seal("sk-1")}
    made = ModelConnection.objects.create(
        team=session.team, base_url=f"{url}/v1", **(values | fields)
    )
    assert session.agent is not None
    session.agent.compaction_summariser = made.name
    session.agent.save()
    return made


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


def test_a_session_without_conversation_is_left_alone(alice: Person) -> None:
    session = live_session(alice)
    job = compacted(session)
    assert job.result["compacted"] is False
    assert boundaries(session) == []


def test_right_after_a_compaction_there_is_nothing_to_do(session: Session) -> None:
    compacted(session)
    job = compacted(session)
    assert job.result["summary"] == "Already compacted"
    assert len(boundaries(session)) == 1


@pytest.mark.parametrize("step", ["decided", "asking", "summarised"])
def test_a_cancelled_compaction_writes_nothing(session: Session, step: str) -> None:
    job = request_compaction(session)
    for _ in at(step, lambda: jobs.cancel(job)):
        done(job)
    assert job.state == "cancelled"
    assert boundaries(session) == []
    assert not CompactionRecord.objects.exists()


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


def test_a_compaction_before_a_turn_is_decided_again(session: Session) -> None:
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "send"
    job = compacted(session, trigger="budget", prompt=prompt)
    assert job.result["summary"] == "It is not due any more."


def test_a_due_compaction_clears_the_way_for_the_turn(alice: Person) -> None:
    session = live_session(alice, flush_first=False)
    talk(session)
    live_turns.append(session, [user("more"), answer("yes", prompt=25_000)])
    prompt = user("And now?")
    assert live_turns.prepare(session, prompt).next.action == "compact"
    compacted(session, trigger="budget", prompt=prompt)
    assert live_turns.prepare(session, prompt).next.action in ("send", "flush")
    stages = Decision.objects.filter(session=session, rule="preflight", fired=True)
    assert stages.exists()


def test_a_due_compaction_that_fails_lets_the_turn_go_on_as_the_rules_say(alice: Person) -> None:
    session = live_session(alice, flush_first=False)
    talk(session)
    live_turns.append(session, [user("more"), answer("yes", prompt=25_000)])
    prompt = user("And now?")
    with serving(refusing(400, "no")) as server:
        connect(session, server.url)
        assert done(request_compaction(session, trigger="budget", prompt=prompt)).state == "failed"
    assert live_turns.prepare(session, prompt).next.action != "compact"


def test_a_recording_is_compacted_on_a_copy(alice: Person) -> None:
    chain = short_session(turns=8)
    recording = alice.imports(chain.data())
    before = list(Entry.objects.values_list("pk", "digest"))
    job = compacted(recording)
    copy = Session.objects.get(uuid=job.result["session"])
    assert copy.pk != recording.pk and copy.is_live
    assert list(Entry.objects.filter(window=window_of(recording)).values_list("pk", "digest")) == before  # fmt: skip
    assert len(boundaries(copy)) == 1
    assert copy.title.endswith("(copy)")
    page = alice.client.get(f"/jobs/{job.uuid}/").content.decode()
    assert f"/sessions/{copy.uuid}/" in page, "the way to what was made"
    jobs.retry(job)
    assert Session.objects.count() == 2


def test_waiting_jobs_for_the_same_are_one(session: Session) -> None:
    assert request_compaction(session) == request_compaction(session)
    assert request_compaction(session, instructions="x") != request_compaction(session)
    with pytest.raises(ValueError, match="no trigger 'soon'"):
        request_compaction(session, trigger="soon")
