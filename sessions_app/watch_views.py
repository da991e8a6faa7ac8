"""Pages about watched folders, and the news of a session that somebody looks at."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from sessions_app import access
from sessions_app.models import Session, WatchedFolder

SILENT_AFTER = timedelta(seconds=20)
"""A watcher that has said nothing for so long is not there."""


def is_followed(session: Session) -> bool:
    """Whether a watcher is there that might bring news of a recording; a live session has a stream."""
    if session.is_live:
        return False
    return WatchedFolder.objects.filter(
        team=session.team_id, seen_at__gt=timezone.now() - SILENT_AFTER
    ).exists()


@require_safe
def watched(request: HttpRequest) -> HttpResponse:
    """The folders that are followed, and whether somebody does."""
    rows = access.visible(WatchedFolder.objects.all(), request.user).order_by("path")
    alive = timezone.now() - SILENT_AFTER
    shown = [(row, row.seen_at is not None and row.seen_at > alive) for row in rows]
    template = (
        "sessions/_watched.html" if request.headers.get("HX-Request") else "sessions/watched.html"
    )
    return render(request, template, {"nav": "watched", "rows": shown})


@require_POST
def unwatch(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Forget a folder; a watcher that follows it stops by itself."""
    access.load(WatchedFolder.objects.all(), request.user, uuid).delete()
    return redirect("watched")


@require_safe
def news(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What an open page of a session asks again and again: has anything come since?"""
    session = access.load(Session.objects.all(), request.user, uuid)
    after = request.GET.get("after", "")
    has_news = after.isdecimal() and int(after[:18]) < session.last_event
    shown = urlsplit(request.headers.get("HX-Current-URL", "")).query
    context = {"session": session, "has_news": has_news, "shown": shown}
    return render(request, "sessions/_news.html", context)
