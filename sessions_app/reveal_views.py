"""Entries and exports as they are stored, for those who may see them; each is noted."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from sessions_app import access, masking, reveals
from sessions_app.downloads import download
from sessions_app.entries import entry_view
from sessions_app.export import exported, file_name
from sessions_app.models import Session


@never_cache
@require_POST
def reveal_entry(request: HttpRequest, uuid: UUID, seq: int) -> HttpResponse:
    """One entry with its secrets."""
    session = access.load(Session.objects.select_related("team"), request.user, uuid)
    with masking.revealed():
        shown = entry_view(session, seq)
        _note(request, session, f"entry {seq}")
        page = {"nav": "sessions", "session": session, "is_revealed": True, **shown}
        return render(request, "sessions/entry.html", page)


@never_cache
@require_POST
def reveal_export(request: HttpRequest, uuid: UUID) -> StreamingHttpResponse:
    """The session as a file, with its secrets."""
    session = access.load(Session.objects.select_related("team"), request.user, uuid)
    lines = exported(session, originals=True)
    _note(request, session, "export")
    return download(request, lines, file_name(session), "application/x-ndjson")


def _note(request: HttpRequest, session: Session, what: str) -> None:
    try:
        reveals.reveal(session, what, cast(User, request.user))
    except reveals.MayNotReveal as error:
        raise PermissionDenied(str(error)) from error
