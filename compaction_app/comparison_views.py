"""Pages that compare policies."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from compaction_app.comparison import comparison_context
from compaction_app.comparison_of_sessions import MOST_SESSIONS, sessions_context
from sessions_app import access
from sessions_app.listing import search_words, searched
from sessions_app.models import Session


@require_safe
def compare(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Up to four policies on one session."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    context = comparison_context(session, request.GET.dict())
    return render(
        request, "compaction/compare.html", {"nav": "sessions", "session": session, **context}
    )


@require_safe
def compare_sessions(request: HttpRequest) -> HttpResponse:
    """One policy on the newest sessions, or on those that a search finds."""
    q = search_words(request.GET.get("q", ""))
    found = searched(access.visible(Session.objects.select_related("agent"), request.user), q)
    if not q:
        found = found.filter(copied_from=None)  # the same conversation would count twice
    newest = list(
        found.filter(entry_count__gt=0).order_by("-imported_at", "-pk")[: MOST_SESSIONS + 1]
    )
    context = sessions_context(newest, request.GET.dict())
    return render(
        request, "compaction/compare_sessions.html", {"nav": "sessions", "q": q, **context}
    )
