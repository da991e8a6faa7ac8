"""The API about one call's context."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router

from compaction_app.cleared import cleared_at, cleared_json
from compaction_app.context_at_call import context_json, told_context
from compaction_app.context_schemas import CommandOut, ContextOut
from compaction_app.runs import situation_of
from compaction_app.runtime_views import COMMANDS, reply, runtime_session
from sessions_app.api import NO_NUL, PROBLEMS
from sessions_app.api_access import READ, load
from sessions_app.masking import mask
from sessions_app.models import Session

router = Router(by_alias=True, tags=["context"])


@router.get("/sessions/{uuid:session_id}/commands", auth=READ, response={200: CommandOut, **PROBLEMS})  # fmt: skip
def run_command(
    request: HttpRequest,
    session_id: UUID,
    command: Annotated[
        str, Query(max_length=60, pattern=NO_NUL, description="/context list, /status and so on.")
    ] = COMMANDS[0],
) -> dict[str, Any]:
    """What the runtime would answer to a command about the session's context, in its own words."""
    session = load(Session.objects.select_related("agent"), request, session_id)
    text = mask(reply(command, runtime_session(situation_of(session))))
    return {"command": command, "text": text, "known": list(COMMANDS)}


@router.get("/sessions/{uuid:session_id}/context/{int:call}", auth=READ, response={200: ContextOut, **PROBLEMS})  # fmt: skip
def read_context(request: HttpRequest, session_id: UUID, call: int) -> dict[str, Any]:
    """What one recorded model call sent: each message with its entry, its size, and what rules did to it."""
    session = load(Session.objects.select_related("agent"), request, session_id)
    try:
        situation = situation_of(session)
        told = told_context(situation, call)
    except IndexError:
        raise Http404("The session has no such call.") from None
    return context_json(told) | {"cleared": cleared_json(cleared_at(situation.window, told))}
