"""The page of one call's context, and the way to it from an entry."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from compaction_app.cleared import LISTED, cleared_at
from compaction_app.context_at_call import told_context
from compaction_app.context_calls import CallReader
from compaction_app.context_page import page_context
from compaction_app.engine.retention.retention import UPPER_BOUND
from compaction_app.lost_page import item_of
from compaction_app.runs import situation_of
from sessions_app import access
from sessions_app.models import Session


@require_safe
def context_at_call(request: HttpRequest, uuid: UUID, call: int) -> HttpResponse:
    """The request of one recorded model call."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    situation = situation_of(session)
    try:
        told = told_context(situation, call)
    except IndexError:
        raise Http404("The session has no such call.") from None
    cleared = cleared_at(situation.window, told)
    page = {"nav": "sessions", "session": session, **page_context(told)}
    if cleared is not None:
        items = [item_of(session.uuid, fate) for fate in cleared.lost[:LISTED]]
        page |= {"cleared": cleared.counts, "cleared_lost": items, "upper_bound": UPPER_BOUND}
    return render(request, "compaction/context.html", page)


@require_safe
def context_of_entry(request: HttpRequest, uuid: UUID, seq: int) -> HttpResponse:
    """To the call that an entry answers, or to the first one that could see it."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    try:
        number = CallReader(situation_of(session)).number_of(seq)
    except IndexError:
        raise Http404("The session has no call.") from None
    return redirect("context", session.uuid, number)
