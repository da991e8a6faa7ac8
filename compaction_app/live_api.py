"""The API for agents: messages, what to do before a model call, what a call left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Router

from compaction_app import live_turns
from compaction_app.api import stage_out
from compaction_app.due_jobs import due_job
from compaction_app.live_answers import appended_out, change_out, flush_turn_out, follows_out
from compaction_app.live_schemas import (
    AppendedOut,
    CallIn,
    MessagesIn,
    PreparedOut,
    PrepareIn,
    ReportedOut,
)
from compaction_app.next_step import NothingToSend
from sessions_app.api import PROBLEMS
from sessions_app.api import router as sessions
from sessions_app.api_access import (
    WRITE,
    WRITE_ASYNC,
    Conflict,
    InvalidField,
    load,
    token_of,
)
from sessions_app.idempotency import once
from sessions_app.jobs_api import Wait
from sessions_app.message_forms import BadForm, Form, from_stored, stored_usage, to_stored
from sessions_app.models import Session
from sessions_app.pool import in_pool
from sessions_app.schemas import Problem
from sessions_app.store import Wanted
from sessions_app.transcripts.session_context import llm_messages
from sessions_app.waiting import job_ended
from sessions_app.writing import BadMessage, CannotWrite, Gone, HeadMoved

router = Router(tags=["live"], by_alias=True)
# An address belongs to one router: what lies at one that the floor below has goes to its router.
WRITES = {**PROBLEMS, 409: Problem}
Json = dict[str, Any]
NOTHING: Json = {"action": None, "due": None, "reply": None}


@router.post("/sessions/{uuid:session_id}/messages", auth=WRITE, response={200: AppendedOut, **WRITES})  # fmt: skip
def append_messages(request: HttpRequest, session_id: UUID, payload: MessagesIn) -> Json:
    """Append messages, in order, without a model call; results that are too large are cut and told.

    Behind a turn's last answer, and behind an error, what follows is decided and its job started.
    """
    wanted = Wanted(session_id, token_of(request).team_id)
    stored, origin = _stored(payload.form, payload.messages)

    def work() -> Json:
        with _told():
            done = live_turns.append_messages(wanted, stored, expected_head=payload.expected_head)
        job = due_job(done.session, done.next) if done.next else None
        return appended_out(done, origin, job)

    return once(request, work)


@router.post("/sessions/{uuid:session_id}/prepare", auth=WRITE_ASYNC, response={200: PreparedOut, **WRITES})  # fmt: skip
async def prepare(
    request: HttpRequest, session_id: UUID, payload: PrepareIn, wait: Wait = 0
) -> Json:
    """What to send with the next model call, or what must happen first and the job that does it.

    Nothing is stored of the session: the same head and prompt give the same answer and the same job.
    With `wait` the answer is held until what must happen first has happened, or the time is up.
    """
    deadline = time.monotonic() + wait
    prepared = await in_pool(_prepared, request, session_id, payload)
    while wait and prepared["job"] and await job_ended(prepared["job"], deadline):
        prepared = await in_pool(_prepared, request, session_id, payload)
    return prepared


def _prepared(request: HttpRequest, session_id: UUID, payload: PrepareIn) -> Json:
    session = _session(request, session_id)
    prompt = None
    if payload.prompt is not None:
        found, _ = _stored(payload.form, [payload.prompt], "prompt")
        if len(found) != 1 or found[0].get("role") != "user":
            raise InvalidField({"prompt": "prompt: must be one message of the user."})
        prompt = found[0]
    with _told():
        done = live_turns.prepare(session, prompt)
    step = done.next
    job = due_job(session, step, prompt) if step.action in ("flush", "compact") else None
    context = step.context if step.action == "send" else None
    return {
        **follows_out(step),
        "decisions": [stage_out(stage) for stage in step.stages],
        "head": done.head,
        "job": job.uuid if job else None,
        "flush_turn": flush_turn_out(session, prompt)
        if step.action == "flush" and not job
        else None,
        "system": [
            {"name": part.kind, "text": part.text, "stable": part.cacheable}
            for part in done.system.parts
        ],
        "messages": from_stored(payload.form, llm_messages(context.messages)) if context else None,
        "changes": [change_out(change) for change in context.changes] if context else [],
    }


@sessions.post("/sessions/{uuid:session_id}/calls", auth=WRITE, response={200: ReportedOut, **WRITES}, tags=["live"])  # fmt: skip
def report_call(request: HttpRequest, session_id: UUID, payload: CallIn) -> Json:
    """Store a model call: what was sent anew and the answer with its usage, or the error.

    A prompt alone confirms that its turn is blocked: it is stored with the reply to its user. For a prompt
    that is stored already, nothing at all confirms it.
    """
    wanted = Wanted(session_id, token_of(request).team_id)
    stored, origin = _stored(payload.form, payload.messages) if payload.messages else ([], [])
    _with_usage(stored, payload.usage)

    def work() -> Json:
        with _told():
            done = live_turns.report_call(
                wanted,
                stored,
                error=payload.error,
                timed_out=payload.timed_out,
                expected_head=payload.expected_head,
            )
        job = due_job(done.session, done.next) if done.next else None
        appended = appended_out(done, origin, job)
        follows = follows_out(done.next) if done.next else NOTHING
        return {**appended, **follows, "job": job.uuid if job else None}

    return once(request, work)


def _session(request: HttpRequest, session_id: UUID) -> Session:
    return load(Session.objects.filter(is_live=True).select_related("agent"), request, session_id)


def _stored(
    form: Form, messages: Iterable[Mapping[str, Any]], field: str = "messages"
) -> tuple[list[Json], list[int]]:
    """The messages as a session stores them, and of which sent message each is a part."""
    stored: list[Json] = []
    origin: list[int] = []
    for number, message in enumerate(messages):
        place = field if field == "prompt" else f"{field}.{number}"
        try:
            made = to_stored(form, message)
        except BadForm as error:
            raise InvalidField({place: f"{place}: {error}"}) from error
        stored += made
        origin += [number] * len(made)
    return stored, origin


def _with_usage(stored: list[Json], reported: Mapping[str, Any] | None) -> None:
    """Put the provider's usage on the answer that it is of, the last one."""
    if reported is None:
        return
    usage = stored_usage(reported)
    answer = next((m for m in reversed(stored) if m.get("role") == "assistant"), None)
    if answer is None or usage is None:
        raise InvalidField({"usage": "usage: needs an answer among the messages, and its counts."})
    answer["usage"] = usage


@contextmanager
def _told() -> Iterator[None]:
    """What the store refuses, as the API's errors."""
    try:
        yield
    except HeadMoved as error:
        raise Conflict(str(error), head=error.head) from error
    except Gone as error:
        raise Http404("No such session.") from error
    except CannotWrite as error:
        raise Conflict(str(error)) from error
    except BadMessage as error:
        raise InvalidField({f"messages.{error.number}": str(error)}) from error
    except live_turns.NothingReported as error:
        text = "messages: send what was sent and the answer, or an error."
        raise InvalidField({"messages": text}) from error
    except NothingToSend as error:
        raise InvalidField({"prompt": f"prompt: {error}"}) from error
