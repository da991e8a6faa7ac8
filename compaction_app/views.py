"""Pages about what decides: the session page with its what-if."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from compaction_app.family import family
from compaction_app.forms import query_of, read_query
from compaction_app.kept_what_ifs import kept_context
from compaction_app.lost_page import lost_context
from compaction_app.lost_rows import counted_rows
from compaction_app.panel import panel_context
from compaction_app.runs import replay_for, situation_of
from compaction_app.session_page import chart_context, details_context, head_context
from compaction_app.work_page import work_of
from sessions_app import access
from sessions_app.entries import entries_page, window_of
from sessions_app.models import Session
from sessions_app.watch_views import is_followed


@require_safe
def session(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The page; asked by HTMX only the part that the knobs change."""
    target = request.headers.get("HX-Target", "")
    found = access.load(_sessions(target), request.user, uuid)
    situation = situation_of(found)
    query = read_query(request.GET.dict(), situation)
    context: dict[str, Any] = {"nav": "sessions", "session": found}
    if target == "details":
        context |= details_context(situation, query)
        if found.is_live:
            context |= head_context(situation, query)
        return render(request, "compaction/_followed.html", context)
    context |= chart_context(situation, query)
    address = f"?{context['address']}"
    if target == "result":
        context["keeps_strip"] = _shows_the_same(request)
        return replace_url(render(request, "compaction/_moved.html", context), address)
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    context |= details_context(situation, query) | head_context(situation, query)
    context |= panel_context(situation, query, done)
    if target == "work":
        context["sheet_open"] = True  # who moved a switch has the sheet open
        return replace_url(render(request, "compaction/_work.html", context), address)
    context["family"] = family(found)
    page = entries_page(found, {"only": "all"})
    context["is_followed"] = is_followed(found)
    context |= work_of(found) | kept_context(situation)
    context |= page | {"problems": query.problems, "file_problems": page["problems"]}
    return render(request, "compaction/session.html", context)


@require_safe
def lost(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What the recorded compactions lost; asked by HTMX only the part that the session page holds."""
    found = access.load(Session.objects.all(), request.user, uuid)
    values = request.GET.dict()
    context = {"nav": "sessions", "session": found} | lost_context(found, window_of(found), values)
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, f"compaction/{'_lost' if is_part else 'lost'}.html", context)


@require_safe
def lost_what_if(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The rows of the difference table that take reading the texts; without HTMX back to the page."""
    found = access.load(Session.objects.select_related("agent"), request.user, uuid)
    situation = situation_of(found)
    query = read_query(request.GET.dict(), situation)
    rows = counted_rows(situation, query)
    if request.headers.get("HX-Request") != "true":
        address = query_of(query, situation)
        return redirect(f"{reverse('session', args=(uuid,))}?{address}#differences")
    return render(request, "compaction/_difference_rows.html", {"rows": rows})


def _sessions(target: str) -> QuerySet[Session]:
    """Sessions as a request needs them: a move of a knob reads nothing of what the list shows, which is
    90 KB of JSON for a long session."""
    sessions = Session.objects.select_related("agent")
    return sessions.defer("summary", "spark", "facts") if target == "result" else sessions


def _shows_the_same(request: HttpRequest) -> bool:
    """Whether the browser already shows this branch and range, so that their drawing can stay."""
    shown = QueryDict(urlsplit(request.headers.get("HX-Current-URL", "?from=unknown")).query)
    return all(shown.get(name, "") == request.GET.get(name, "") for name in ("from", "to", "leaf"))
