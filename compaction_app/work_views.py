"""Pages about compactions and flushes: ask for one, look at what came of it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from compaction_app.compaction_jobs import MAX_INSTRUCTIONS, request_compaction
from compaction_app.flush_jobs import request_flush
from compaction_app.models import CompactionRecord, FlushRecord
from compaction_app.work_page import compaction_page, flush_page
from sessions_app import access
from sessions_app.models import Session

COMMAND = "/compact"


@require_POST
def compact(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Queue a compaction; the focus may be typed as in a chat: ``/compact focus``."""
    session = access.load(Session.objects.select_related("team"), request.user, uuid)
    focus = request.POST.get("focus", "").replace("\x00", "").strip()
    focus = focus.removeprefix(COMMAND).strip()
    if len(focus) > MAX_INSTRUCTIONS:
        messages.error(request, f"The focus may have {MAX_INSTRUCTIONS:,} characters.")
        return redirect("session", uuid)
    if session.archived_at is not None:
        messages.error(request, "The session is archived; nothing of it is changed.")
        return redirect("session", uuid)
    return redirect("job", request_compaction(session, instructions=focus).uuid)


@require_POST
def flush(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Queue a memory flush."""
    session = access.load(Session.objects.select_related("team"), request.user, uuid)
    if session.archived_at is not None:
        messages.error(request, "The session is archived; nothing of it is changed.")
        return redirect("session", uuid)
    return redirect("job", request_flush(session).uuid)


@require_safe
def compaction_record(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(
        CompactionRecord.objects.select_related("session", "window", "job"), request.user, uuid
    )
    return render(request, "compaction/record.html", {"nav": "sessions", **compaction_page(found)})


@require_safe
def flush_record(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(FlushRecord.objects.select_related("session", "job"), request.user, uuid)
    return render(request, "compaction/flush_record.html", {"nav": "sessions", **flush_page(found)})
