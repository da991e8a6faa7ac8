"""Compactions by jobs, for tests: a session to compact, the job done, what it left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from compaction_app import live_turns, step_log
from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import ModelConnection
from compaction_app.sealed import seal
from compaction_app.tasks import compact_session
from sessions_app.entries import window_of
from sessions_app.models import Job, Session
from sessions_app.rows import entries_of_window
from sessions_app.transcripts.session_context import context_of_path
from tests.compaction_app.live import answer, user

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


def connect(session: Session, url: str, **fields: Any) -> ModelConnection:
    values = {"kind": "openai", "name": "mine", "model": "m", "sealed_key": seal("sk-1")}
    made = ModelConnection.objects.create(
        team=session.team, base_url=f"{url}/v1", **(values | fields)
    )
    assert session.agent is not None
    session.agent.compaction_summariser = made.name
    session.agent.save()
    return made
