"""The API about the life of a live session: begun, spawned, ended, archived, deleted, taken along."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router, Status

from compaction_app.announcing import end_subagent
from compaction_app.api import stage_out
from compaction_app.engine.turn.record import StageRecord
from compaction_app.session_schemas import BegunOut, EndedOut, EndIn, SessionIn
from compaction_app.spawning import Spawned, SpawnForbidden, Task, spawn
from sessions_app.api import PROBLEMS, session_out
from sessions_app.api import router as sessions
from sessions_app.api_access import (
    ADMIN,
    READ,
    WRITE,
    Conflict,
    InvalidField,
    load,
    reveal_to_token,
    token_of,
)
from sessions_app.downloads import download
from sessions_app.export import exported, file_name
from sessions_app.idempotency import once
from sessions_app.live_sessions import archive_session, create_session, delete_session
from sessions_app.models import Agent, Session
from sessions_app.schemas import Problem, SessionOut
from sessions_app.writing import CannotWrite

router = Router(tags=["sessions"], by_alias=True)
# An address belongs to one router: what lies at one that the floor below has goes to its router.
WRITES = {**PROBLEMS, 409: Problem}
Json = dict[str, Any]
FILE = {
    "responses": {
        200: {
            "description": "OpenClaw v3, one record a line.",
            "content": {"application/x-ndjson": {}},
        }
    }
}


@sessions.post("/sessions", auth=WRITE, response={200: BegunOut, **WRITES}, tags=["sessions"])
def begin_session(request: HttpRequest, payload: SessionIn) -> Json:
    """A new live session of an agent, alone or as a subagent of another session.

    How deep subagents may be nested, and how many of them may run, are settings; at a limit it is refused.
    """
    agent = load(Agent.objects.filter(is_live=True), request, payload.agent)
    parent = None
    if payload.parent is not None:
        parent = load(Session.objects.filter(is_live=True), request, payload.parent)
    elif payload.fork:
        raise InvalidField({"fork": "fork: needs the parent to begin with."})

    def work() -> Json:
        if parent is None:
            begun = create_session(agent, payload.title, key=payload.key)
            return {**session_out(begun), "subagent": None}
        task = Task(payload.task, payload.label, payload.persistent)
        named = {"title": payload.title, "key": payload.key}
        return _spawned_out(spawn(agent, parent, task, fork=payload.fork, **named))

    try:
        return once(request, work)
    except SpawnForbidden as error:
        raise Conflict(str(error), reason=error.decision.reason) from error
    except CannotWrite as error:
        raise Conflict(str(error)) from error


@router.post("/sessions/{uuid:session_id}/end", auth=WRITE, response={200: EndedOut, **WRITES}, tags=["sessions"])  # fmt: skip
def end_session(request: HttpRequest, session_id: UUID, payload: EndIn) -> Json:
    """A subagent's run is over: its result is announced to its parent, whose next prompt tells it.

    Nothing is announced for a reply of NO_REPLY or ANNOUNCE_SKIP; while its own subagents are running it waits
    for them, and their results stand for its reply.
    """
    session = _session(request, session_id)

    def work() -> Json:
        ended = end_subagent(session, payload.status, payload.error)
        decision = ended.announced.decision
        return {
            "outcome": decision.outcome,
            "reason": decision.reason,
            "told": ended.told,
            "pending": ended.pending,
            "decisions": [stage_out(StageRecord(decision.rule, "turn", 0, 1, decision))],
        }

    try:
        return once(request, work)
    except CannotWrite as error:
        raise Conflict(str(error)) from error


@router.post("/sessions/{uuid:session_id}/archive", auth=WRITE, response={200: SessionOut, **PROBLEMS}, tags=["sessions"])  # fmt: skip
def archive(request: HttpRequest, session_id: UUID) -> Json:
    """Take no more messages; everything stays to be read."""
    session = _session(request, session_id)
    archive_session(session)
    session.refresh_from_db(fields=["archived_at"])
    return session_out(session)


@sessions.delete("/sessions/{uuid:session_id}", auth=ADMIN, response={204: None, **PROBLEMS}, tags=["sessions"])  # fmt: skip
def delete(request: HttpRequest, session_id: UUID) -> Status[None]:
    """Delete a session and everything that hangs on it. This cannot be undone."""
    session = load(Session.objects.all(), request, session_id)
    delete_session(session, f"token {token_of(request).name}")
    return Status(204, None)


@router.get("/sessions/{uuid:session_id}/export", auth=READ, response=PROBLEMS, openapi_extra=FILE, tags=["sessions"])  # fmt: skip
def export(
    request: HttpRequest,
    session_id: UUID,
    originals: Annotated[
        bool, Query(description="With its secrets; it is noted who asks.")
    ] = False,
) -> HttpResponseBase:
    """The session as the runtime would have written it; imported again it is the same session.

    Secrets are hidden. With `originals`, which needs a token with scope admin, they are not.
    """
    session = load(Session.objects.all(), request, session_id)
    lines = exported(session, originals=originals)
    if originals:
        reveal_to_token(request, session, "export")
    return download(request, lines, file_name(session), "application/x-ndjson")


def _spawned_out(spawned: Spawned) -> Json:
    return {
        **session_out(spawned.session),
        "subagent": {
            "depth": spawned.depth,
            "max_depth": spawned.max_depth,
            "context": spawned.context.kind,
            "note": spawned.context.note,
            "first_message": spawned.first_message,
        },
    }


def _session(request: HttpRequest, session_id: UUID) -> Session:
    return load(Session.objects.filter(is_live=True).select_related("agent"), request, session_id)
