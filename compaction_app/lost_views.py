"""Pages on which a recorded compaction is made again, to see what another summary would have kept."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from compaction_app import resummaries
from compaction_app.lost_again_page import again_context, wanted
from sessions_app import access
from sessions_app.models import Job, Session


@require_POST
def ask_again(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A job that makes a compaction of the session again; nothing of the session is changed."""
    session = access.load(Session.objects.select_related("team", "agent"), request.user, uuid)
    asked = wanted(session, request.POST.dict())
    if asked.problem:
        messages.error(request, asked.problem)
        return redirect(f"{reverse('lost', args=(uuid,))}?compaction={asked.number}")
    job = resummaries.request_resummary(session, asked.number, asked.summariser, asked.keep)
    return redirect("lost-again", uuid, job.uuid)


@require_safe
def again(request: HttpRequest, uuid: UUID, job: UUID) -> HttpResponse:
    """What came of it: both summaries side by side, or how far the job is."""
    session = access.load(Session.objects.select_related("team", "agent"), request.user, uuid)
    found = Job.objects.filter(uuid=job, session=session, kind=resummaries.KIND).first()
    if found is None:
        raise Http404("No such job.")
    context = {"nav": "sessions", "session": session} | again_context(session, found)
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, f"compaction/{'_lost_again' if is_part else 'lost_again'}.html", context)
