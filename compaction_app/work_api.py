"""The API that starts work on a session: compaction, memory flush, the notes of an agent's own flush."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router

from compaction_app.compaction_jobs import request_compaction
from compaction_app.flush_jobs import request_agent_notes, request_flush
from compaction_app.live_schemas import CompactIn, NotesIn
from sessions_app.api import PROBLEMS
from sessions_app.api_access import WRITE, load
from sessions_app.idempotency import once
from sessions_app.jobs_api import job_out
from sessions_app.models import Session
from sessions_app.schemas import JobOut

router = Router(tags=["jobs"], by_alias=True)


@router.post("/sessions/{uuid:session_id}/compact", auth=WRITE, response={200: JobOut, **PROBLEMS})
def compact(request: HttpRequest, session_id: UUID, payload: CompactIn) -> dict[str, Any]:
    """Compact now, as a typed /compact does; of an imported session a copy, which the result names."""
    session = load(Session.objects.all(), request, session_id)
    return once(
        request,
        lambda: job_out(request_compaction(session, instructions=payload.instructions)),
    )


@router.post("/sessions/{uuid:session_id}/flush", auth=WRITE, response={200: JobOut, **PROBLEMS})
def flush(request: HttpRequest, session_id: UUID) -> dict[str, Any]:
    """Write to memory now what should outlive a compaction; once in a compaction cycle."""
    session = load(Session.objects.all(), request, session_id)
    return once(request, lambda: job_out(request_flush(session)))


@router.post("/sessions/{uuid:session_id}/flush/notes", auth=WRITE, response={200: JobOut, **PROBLEMS})  # fmt: skip
def post_notes(request: HttpRequest, session_id: UUID, payload: NotesIn) -> dict[str, Any]:
    """What an agent wrote in the flush turn that `prepare` gave it. A reply of NO_REPLY is no note."""
    session = load(Session.objects.filter(is_live=True), request, session_id)
    return once(
        request, lambda: job_out(request_agent_notes(session, payload.notes, payload.reply))
    )
