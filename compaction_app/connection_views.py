"""Pages about the models of a team: the list, one of them, its test."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from compaction_app.connection_forms import ConnectionForm
from compaction_app.model_tests import last_test, request_test
from compaction_app.models import ModelConnection
from sessions_app import access
from sessions_app.models import Agent
from sessions_app.workers import has_worker


@require_http_methods(["GET", "HEAD", "POST"])
def connections(request: HttpRequest) -> HttpResponse:
    """The team's models, and a form for another one."""
    team = access.team_of(request.user)
    form = ConnectionForm(team, request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = form.save()
        messages.success(request, f"Saved {made.name}. Agents can choose it now.")
        return redirect("connections")
    context: dict[str, Any] = {
        "nav": "connections",
        "connections": ModelConnection.objects.filter(team=team).order_by("name"),
        "form": form,
    }
    return render(request, "compaction/connections.html", context, status=_status(request))


@require_http_methods(["GET", "HEAD", "POST"])
def connection(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Change one of them; an empty key keeps the one that is stored."""
    found = access.load(ModelConnection.objects.select_related("team"), request.user, uuid)
    form = ConnectionForm(found.team, request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        made = form.save()
        messages.success(request, f"Saved {made.name}.")
        return redirect("connections")
    context = {
        "nav": "connections",
        "form": form,
        "connection": found,
        "test": last_test(found),
        "has_worker": has_worker(),
    }
    return render(request, "compaction/connection.html", context, status=_status(request))


@require_http_methods(["GET", "HEAD", "POST"])
def connection_test(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """POST asks the model by a job; the fragment shows what came of the newest test."""
    found = access.load(ModelConnection.objects.select_related("team"), request.user, uuid)
    if request.method == "POST":
        request_test(found)
        if not request.headers.get("HX-Request"):
            return redirect(_page_of_test(request, found))
    context = {"connection": found, "job": last_test(found), "has_worker": has_worker()}
    return render(request, "compaction/_model_test.html", context)


def _page_of_test(request: HttpRequest, connection: ModelConnection) -> str:
    """Back to the agent's page that the test was asked for on, else to the model's."""
    agents = access.visible(Agent.objects.all(), request.user)
    try:
        agent = agents.filter(uuid=UUID(request.POST.get("agent", ""))).first()
    except ValueError:
        agent = None
    if agent is None:
        return reverse("connection", args=[connection.uuid])
    return f"{reverse('agent', args=[agent.uuid])}#summarisers"


@require_POST
def connection_delete(request: HttpRequest, uuid: UUID) -> HttpResponse:
    found = access.load(ModelConnection.objects.all(), request.user, uuid)
    found.delete()
    messages.info(request, f"Removed {found.name}. Agents that name it summarise without a model.")
    return redirect("connections")


def _status(request: HttpRequest) -> int:
    """A form that comes back was not accepted."""
    return 422 if request.method == "POST" else 200
