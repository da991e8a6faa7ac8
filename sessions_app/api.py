"""The API about what happened: sessions, their growth and entries, jobs."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router

from sessions_app import live_sessions, masking
from sessions_app.api_access import (
    ADMIN,
    READ,
    WRITE,
    InvalidField,
    load,
    owned,
    reveal_to_token,
)
from sessions_app.entries import window_of
from sessions_app.hidden_secrets import clean_record
from sessions_app.listing import search_words, searched
from sessions_app.loaded import timeline_of
from sessions_app.masking import mask, mask_all
from sessions_app.models import Entry, Session
from sessions_app.payload import record_of
from sessions_app.schemas import (
    CallsOut,
    EntryOut,
    EntryPage,
    Problem,
    SessionOut,
    SessionPage,
    TitleIn,
)
from sessions_app.transcripts.columns import UNKNOWN, Ints

router = Router(tags=["sessions"], by_alias=True)
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 422, 429, 503), Problem)
NO_NUL = r"^[^\x00]*$"
"""PostgreSQL cannot be asked for texts with NUL."""
Limit = Annotated[int, Query(ge=1, le=200, description="Most items of one answer.")]
Cursor = Annotated[int | None, Query(ge=0, le=2**62)]


@router.get("/sessions", auth=READ, response={200: SessionPage, **PROBLEMS})
def list_sessions(
    request: HttpRequest,
    q: Annotated[str, Query(max_length=200, description="Part of title, model or key.")] = "",
    before: Cursor = None,
    limit: Limit = 50,
) -> dict[str, Any]:
    """The sessions of the team, newest import first."""
    found = searched(owned(Session.objects.select_related("agent"), request), search_words(q))
    found = found.order_by("-pk")
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(found[: limit + 1])
    return {
        "items": [session_out(session) for session in rows[:limit]],
        "next": rows[limit - 1].pk if len(rows) > limit else None,
    }


@router.get("/sessions/{uuid:session_id}", auth=READ, response={200: SessionOut, **PROBLEMS})
def read_session(request: HttpRequest, session_id: UUID) -> dict[str, Any]:
    """One session with its counts."""
    return session_out(load(Session.objects.select_related("agent"), request, session_id))


@router.patch("/sessions/{uuid:session_id}", auth=WRITE, response={200: SessionOut, **PROBLEMS})
def rename_session(request: HttpRequest, session_id: UUID, payload: TitleIn) -> dict[str, Any]:
    """Give a session another title."""
    session = load(Session.objects.select_related("agent"), request, session_id)
    if not live_sessions.rename_session(session, payload.title):
        raise InvalidField({"title": "title: must hold more than blanks."})
    return session_out(session)


@router.get("/sessions/{uuid:session_id}/calls", auth=READ, response={200: CallsOut, **PROBLEMS})
def read_calls(request: HttpRequest, session_id: UUID) -> dict[str, Any]:
    """How the session grew: what each model call was billed, and what is estimated."""
    grown = timeline_of(window_of(load(Session.objects.all(), request, session_id)), None)
    return {
        "billed_prompt": known(grown.billed_prompt),
        "billed_total": known(grown.billed_total),
        "estimated": grown.estimated.tolist(),
        "exact": known(grown.exact),
        "turn": grown.turn.tolist(),
    }


@router.get("/sessions/{uuid:session_id}/entries", auth=READ, response={200: EntryPage, **PROBLEMS})
def list_entries(
    request: HttpRequest, session_id: UUID, after: Cursor = None, limit: Limit = 50
) -> dict[str, Any]:
    """The entries as they were read, in the order of the file."""
    window = window_of(load(Session.objects.all(), request, session_id))
    start = -1 if after is None else after
    rows = list(Entry.objects.filter(window=window, seq__gt=start).order_by("seq")[: limit + 1])
    return {
        "items": [entry_out(row) for row in rows[:limit]],
        "next": rows[limit - 1].seq if len(rows) > limit else None,
    }


@router.post("/sessions/{uuid:session_id}/entries/{int:seq}/reveal", auth=ADMIN, response={200: EntryOut, **PROBLEMS})  # fmt: skip
def reveal_entry(request: HttpRequest, session_id: UUID, seq: int) -> dict[str, Any]:
    """One entry with its secrets, which all other answers hide; it is noted who asks."""
    session = load(Session.objects.all(), request, session_id)
    row = Entry.objects.filter(window=window_of(session), seq=seq).first()
    if row is None:
        raise Http404("The session has no such entry.")
    reveal_to_token(request, session, f"entry {seq}")
    with masking.revealed():
        return entry_out(row)


def session_out(session: Session) -> dict[str, Any]:
    facts = session.facts
    return {
        "id": session.uuid,
        "title": mask(session.title),
        "agent": session.agent.name if session.agent else None,
        "entries": session.entry_count,
        "window": session.summary.get("window"),
        **{name: facts.get(name) for name in ("calls", "turns", "flushes", "compactions")},
        **{
            name: getattr(session, name)
            for name in (
                "source",
                "is_live",
                "archived_at",
                "provider",
                "model",
                "peak_tokens",
                "last_at",
                "imported_at",
            )
        },
    }


def entry_out(row: Entry) -> dict[str, Any]:
    names = [name for name in EntryOut.model_fields if name not in ("id", "entry")]
    return {
        "id": row.entry_id,
        "entry": mask_all(clean_record(record_of(row.payload))),
        **{n: getattr(row, n) for n in names},
    }


def known(values: Ints) -> list[int | None]:
    """Numbers with null where nothing is known."""
    return [None if value == UNKNOWN else value for value in values.tolist()]
