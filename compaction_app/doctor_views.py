"""The doctor's pages: a configuration explained and corrected, the rule sets side by side."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from compaction_app.doctor_forms import Asked, ledger_for, read_question
from compaction_app.doctor_page import outcome_rows, report_context
from compaction_app.doctor_sessions import MOST_SESSIONS, comparison_of, stored_agents
from compaction_app.engine.doctor.report import agent_report, outcomes_of
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app import access, agents
from sessions_app.models import Session


@require_http_methods(["GET", "HEAD", "POST"])
def doctor(request: HttpRequest) -> HttpResponse:
    """The form, and the report when something was given; nothing of it is kept unless asked for."""
    asked = read_question(request)
    action = request.POST.get("action", "")
    if action == "keep":
        return _keep(request, asked)
    context: dict[str, Any] = {
        "nav": "doctor",
        "asked": asked,
        "agents": stored_agents(request.user),
        "rule_sets": RULE_SETS,
    }
    if not asked.is_empty:
        ledger, total = ledger_for(asked, request.user)
        report = agent_report(asked.config, asked.name, asked.rules, ledger)
        context |= report_context(report, asked.config, asked.rules, asked.chosen)
        context |= {"total": total, "most": MOST_SESSIONS}
        if action == "download" and context["corrected_text"]:
            return _file(context["corrected_text"])
        if action == "outcomes" or request.headers.get("HX-Target") == "outcomes":
            found = outcomes_of(asked.config, report, asked.rules, context["making"])
            context["outcomes"] = outcome_rows(found)
        if request.headers.get("HX-Target") == "outcomes":
            return _page(request, "compaction/_doctor_outcomes.html", context)
    return _page(request, "compaction/doctor.html", context)


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page with "?" for what no page can hold: a file may name halves of surrogate pairs."""
    return HttpResponse(render_to_string(template, context, request).encode("utf-8", "replace"))


def _keep(request: HttpRequest, asked: Asked) -> HttpResponse:
    """Keep a pasted file as the configuration of a stored agent."""
    if asked.agent is None or not asked.pasted:
        messages.error(request, "Paste a file and choose the agent that it is for.")
        return redirect("doctor")
    if any(finding.code == "CONFIG_INVALID" for finding in asked.config.findings):
        messages.error(request, "The file was not kept: the runtime would not start with it.")
    else:
        _, reached = agents.configure([asked.agent], asked.pasted)
        words = f"The file now holds for {asked.agent.name}: {len(reached)} sessions."
        messages.success(request, words)
    return redirect(f"{reverse('doctor')}?agent={asked.agent.uuid}")


def _file(text: str) -> HttpResponse:
    answer = HttpResponse(text, content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="openclaw.json"'
    return answer


@require_safe
def rule_sets(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One session and its configuration under every rule set."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    context = {"nav": "sessions", "session": session, "comparison": comparison_of(session)}
    return render(request, "compaction/rule_sets.html", context)
