"""Renaming and deleting a session, on a page of its own."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from sessions_app import access
from sessions_app.live_sessions import delete_session, rename_session
from sessions_app.models import Session


@require_safe
def manage(request: HttpRequest, uuid: UUID) -> HttpResponse:
    session = access.load(Session.objects.all(), request.user, uuid)
    context = {"nav": "sessions", "session": session, "children": session.children.count()}
    return render(request, "sessions/manage.html", context)


@require_POST
def rename(request: HttpRequest, uuid: UUID) -> HttpResponse:
    session = access.load(Session.objects.all(), request.user, uuid)
    if not rename_session(session, request.POST.get("title", "")):
        messages.error(request, "A session needs a title.")
        return redirect("manage-session", uuid)
    return redirect("session", uuid)


@require_POST
def delete(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Only with the box ticked: there is no way back."""
    session = access.load(Session.objects.all(), request.user, uuid)
    if request.POST.get("sure") != "yes":
        messages.error(request, "Nothing was deleted: tick the box first.")
        return redirect("manage-session", uuid)
    title = session.title
    delete_session(session, request.user.get_username())
    messages.success(request, f"“{title}” and everything that hung on it is deleted.")
    return redirect("sessions")
