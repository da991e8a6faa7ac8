"""Memory flushes by jobs, for tests: a session at its flush line, the job done, what it left."""

from __future__ import annotations

from typing import Any

from compaction_app import live_turns
from compaction_app.flush_jobs import request_flush
from compaction_app.models import (
    FlushRecord,
    ModelConnection,
)
from compaction_app.tasks import flush_session
from sessions_app.models import Job, Session
from tests.compaction_app.compacting import talk
from tests.compaction_app.live import answer, user


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


def today(handler_body: Any) -> str:
    system = str(handler_body["messages"][0]["content"])
    at = system.index("memory/2")
    return system[at : at + len("memory/2026-01-01.md")]
