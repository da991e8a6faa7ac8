"""The page of the runtime's own views."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from compaction_app.runs import situation_of
from compaction_app.runtime_views import COMMANDS, reply, runtime_session
from sessions_app import access
from sessions_app.entries import sendable
from sessions_app.masking import mask
from sessions_app.models import Session

LONGEST = 60


@require_safe
def commands(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What the runtime would answer to a command about this session's context."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    chosen = request.GET.get("command", "").strip()[:LONGEST] or COMMANDS[0]
    known = runtime_session(situation_of(session))
    page = {
        "nav": "sessions",
        "session": session,
        "commands": COMMANDS,
        "chosen": chosen,
        "answer": sendable(mask(reply(chosen, known))),
        "is_map": chosen.lower().startswith("/context map"),
        "last_call": session.facts.get("calls"),
    }
    return render(request, "compaction/commands.html", page)
