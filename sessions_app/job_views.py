"""Pages about jobs: the list with its progress, one job with its log, cancel and retry."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from sessions_app import access, jobs
from sessions_app.job_list import job_view, jobs_page
from sessions_app.models import Job


@require_safe
def job_list(request: HttpRequest) -> HttpResponse:
    """The list; asks for itself again as long as something moves."""
    context: dict[str, Any] = {"nav": "jobs", **jobs_page(_visible(request), request.GET)}
    part = request.headers.get("HX-Target") == "jobs"
    return render(request, "jobs/_list.html" if part else "jobs/list.html", context)


@require_safe
def job(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(Job.objects.select_related("session", "team"), request.user, uuid)
    context: dict[str, Any] = {"nav": "jobs", **job_view(_visible(request), found)}
    part = request.headers.get("HX-Target") == "job"
    return render(request, "jobs/_job.html" if part else "jobs/job.html", context)


@require_POST
def job_cancel(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(Job.objects.all(), request.user, uuid)
    if found.is_open:
        jobs.cancel(found)
        messages.info(request, f"Asked to cancel: {found.title}.")
    else:
        messages.info(request, f"It has ended already ({found.state}): {found.title}.")
    return redirect("job", uuid)


@require_POST
def job_retry(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(Job.objects.all(), request.user, uuid)
    if jobs.retry(found):
        messages.success(request, f"Queued again: {found.title}.")
    else:
        messages.error(request, "Only a job that failed or was cancelled can be done again.")
    return redirect("job", uuid)


def _visible(request: HttpRequest) -> QuerySet[Job]:
    return access.visible(Job.objects.all(), request.user)
