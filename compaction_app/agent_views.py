"""Pages of agents: the list, one agent with its workspace, its memory."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from compaction_app.agent_forms import AgentForm, NewAgentForm
from compaction_app.agent_page import agent_context, agents_context
from compaction_app.cost_preview import preview_context
from compaction_app.memory_page import memory_context
from sessions_app import access
from sessions_app.hidden_secrets import restored
from sessions_app.models import Agent
from sessions_app.workspace import BadFile, check_file, files_of, write_files


@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: HttpRequest) -> HttpResponse:
    """The agents of the user's teams; POST makes one that is fed through the API."""
    form = NewAgentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.team = access.team_of(request.user)
        form.instance.is_live = True
        return redirect("agent", form.save().uuid)
    shown = agents_context(access.visible(Agent.objects.all(), request.user))
    status = 422 if request.method == "POST" else 200
    return render(
        request, "compaction/agents.html", {"nav": "agents", "form": form, **shown}, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One agent; POST changes its own fields."""
    found = access.load(Agent.objects.all(), request.user, uuid)
    form = AgentForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid() and "preview" in request.POST:
        stored = Agent.objects.get(pk=found.pk)
        page = preview_context(stored, found, {}, request.GET.get("file"))
        return render(request, "compaction/agent.html", {"nav": "agents", "form": form, **page})
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved. It holds from the next call on.")
        return redirect("agent", uuid)
    if request.method == "POST":
        found.refresh_from_db()  # the page shows what is stored beside what was refused
    context = {"nav": "agents", "form": form, **agent_context(found, request.GET.get("file"))}
    return render(
        request, "compaction/agent.html", context, status=422 if request.method == "POST" else 200
    )


@require_POST
def agent_file(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Write a workspace file, or take it away."""
    found = access.load(Agent.objects.all(), request.user, uuid)
    name = request.POST.get("name", "").strip()
    text = None if request.POST.get("action") == "delete" else request.POST.get("text", "")
    if text is not None:
        text = restored(text, files_of(found).get(name, ""))
    if text is not None and request.POST.get("action") == "preview":
        try:
            check_file(name, text)
        except BadFile as error:
            messages.error(request, str(error))
            return redirect("agent", uuid)
        page = preview_context(found, found, {name: text}, name, request.POST.get("text", ""))
        form = AgentForm(instance=found)
        return render(request, "compaction/agent.html", {"nav": "agents", "form": form, **page})
    try:
        write_files(found, {name: text})
    except BadFile as error:
        messages.error(request, str(error))
        return redirect("agent", uuid)
    messages.success(request, f"{name} is {'taken away' if text is None else 'written'}.")
    query = "" if text is None else f"?{urlencode({'file': name})}"
    return redirect(f"{reverse('agent', args=[uuid])}{query}#files")


@require_safe
def memory(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The memory files of an agent, and who wrote each note."""
    found = access.load(Agent.objects.all(), request.user, uuid)
    context = memory_context(found, request.GET.get("file", ""), request.GET.get("page", "1"))
    if context is None:
        raise Http404("The agent has no such memory file.")
    return render(request, "compaction/memory.html", {"nav": "agents", **context})
