"""The API's streams: what happens to one session, or to all of a team, as server-sent events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from ninja import Header, Query, Router

from sessions_app import api_tokens
from sessions_app.api import PROBLEMS, Limit
from sessions_app.api_access import READ, READ_ASYNC, InvalidField, load, token_of
from sessions_app.events import events_after
from sessions_app.masking import mask_all
from sessions_app.models import Session
from sessions_app.pool import in_pool
from sessions_app.schemas import OutboxEventOut
from sessions_app.stream import session_stream, team_stream

router = Router(tags=["live"], by_alias=True)
STREAM = {
    "responses": {200: {"description": "Events without end.", "content": {"text/event-stream": {}}}}
}
After = Annotated[
    int, Query(ge=0, le=2**62, description="The number of the last event that is known.")
]
LastEventId = Annotated[
    str, Header(alias="Last-Event-ID", description="Where to go on; browsers send it themselves.")
]


@router.get("/sessions/{uuid:session_id}/events", auth=READ, response={200: list[OutboxEventOut], **PROBLEMS})  # fmt: skip
def list_events(
    request: HttpRequest, session_id: UUID, after: After = 0, limit: Limit = 50
) -> list[dict[str, Any]]:
    """What happened to a session, in order and without gaps in the numbers."""
    session = load(Session.objects.all(), request, session_id)
    return [
        {
            "sequence": event.sequence,
            "kind": event.kind,
            "data": mask_all(event.data),
            "at": event.at,
        }
        for event in events_after(session, after, limit)
    ]


@router.get("/sessions/{uuid:session_id}/events/stream", auth=READ_ASYNC, response=PROBLEMS, openapi_extra=STREAM)  # fmt: skip
async def stream_session(
    request: HttpRequest, session_id: UUID, after: After = 0, last_event_id: LastEventId = ""
) -> HttpResponseBase:
    """The same as it happens. A comment comes every 15 s when nothing does."""
    session = await in_pool(load, Session.objects.all(), request, session_id)
    return event_stream(
        session_stream(session, _resumed(last_event_id, after) or 0, _still(request))
    )


@router.get("/events/stream", auth=READ_ASYNC, response=PROBLEMS, openapi_extra=STREAM)
async def stream_team(request: HttpRequest, last_event_id: LastEventId = "") -> HttpResponseBase:
    """What happens to all sessions of the team, from now on.

    Resumed with Last-Event-ID it may repeat events of the last minute; session and sequence tell.
    """
    return event_stream(
        team_stream(token_of(request).team_id, _resumed(last_event_id, None), _still(request))
    )


def event_stream(events: Any) -> HttpResponseBase:
    """An answer that no proxy keeps back."""
    answer = StreamingHttpResponse(events, content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


def _still(request: HttpRequest) -> Callable[[], bool]:
    """Whether the token that opened a stream still opens something."""
    token = token_of(request).pk
    return lambda: api_tokens.opening().filter(pk=token).exists()


def _resumed(last_event_id: str, otherwise: int | None) -> int | None:
    if not last_event_id:
        return otherwise
    if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 19):
        raise InvalidField({"Last-Event-ID": "Last-Event-ID: send the id of an event as it came."})
    return int(last_event_id)
