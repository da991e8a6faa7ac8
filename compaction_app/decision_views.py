"""Pages about decisions: one of them, one turn, all of a session."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from compaction_app.audits import request_audit
from compaction_app.decision_list import list_context
from compaction_app.decision_page import decision_context
from compaction_app.forms import query_of, read_query
from compaction_app.models import AuditedTurn, Decision
from compaction_app.runs import situation_of
from compaction_app.turn_page import (
    MOST_WHAT_IF_ENTRIES,
    ToldTurn,
    audited_turn,
    told_audit,
    told_what_if,
    turn_context,
    waiting,
)
from sessions_app import access
from sessions_app.entries import window_of
from sessions_app.hidden_secrets import showing
from sessions_app.models import Session


@require_safe
def decision(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One decision, and its replay when the query asks for one."""
    found = Decision.objects.select_related("session__agent", "window").filter(
        uuid=uuid, session__in=access.visible(Session.objects.all(), request.user)
    )
    row = found.first()
    if row is None:
        raise Http404("No such decision.")
    showing(row.session)
    context = decision_context(row, situation_of(row.session), request.GET.dict())
    return render(request, "compaction/decision.html", {**_frame(row.session), **context})


@require_safe
def turn(request: HttpRequest, uuid: UUID, number: int) -> HttpResponse:
    """One turn as the audit judged it, or as it would go in the what-if of the query."""
    session = _session(request, uuid)
    situation = situation_of(session)
    query = read_query(request.GET.dict(), situation)
    is_what_if = request.GET.get("reading") == "what_if"
    context: dict[str, Any] = {
        **_frame(session),
        "number": number,
        "is_what_if": is_what_if,
        "situation": situation,
        "query": query,
        "address": query_of(query, situation),
        "is_changed": query.policy != situation.policy or query.around != situation.around,
        "problems": query.problems,
    }
    told: ToldTurn | None
    if is_what_if:
        context["too_long"] = session.entry_count > MOST_WHAT_IF_ENTRIES
        if context["too_long"]:
            return render(request, "compaction/turn_missing.html", context)
        told = told_what_if(situation, query.policy, query.around, number)
    else:
        audited = audited_turn(situation, number)
        context["audited"] = audited
        told = told_audit(audited) if audited else None
    if told is None:
        if is_what_if or AuditedTurn.objects.filter(window=situation.window).exists():
            raise Http404("The session has no such turn.")
        return render(request, "compaction/turn_missing.html", {**context, **waiting(situation)})
    return render(request, "compaction/turn.html", {**context, **turn_context(situation, told)})


@require_safe
def turn_of_entry(request: HttpRequest, uuid: UUID, seq: int) -> HttpResponse:
    """To the turn that an entry belongs to."""
    session = _session(request, uuid)
    turns = AuditedTurn.objects.filter(window=window_of(session), start__lte=seq)
    found = turns.order_by("-start", "-number").first()
    return redirect("turn", session.uuid, found.number if found else 1)


@require_safe
def decisions(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The decisions of a session, by kind, outcome and reason."""
    session = _session(request, uuid)
    context = list_context(session, request.GET.dict())
    if not context["total"]:
        context |= waiting(situation_of(session))
    return render(request, "compaction/decisions.html", {**_frame(session), **context})


@require_POST
def audit(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Work the decisions out, where that has not been done."""
    session = _session(request, uuid)
    request_audit(session)
    return redirect("decisions", session.uuid)


def _session(request: HttpRequest, uuid: UUID) -> Session:
    return access.load(Session.objects.select_related("agent"), request.user, uuid)


def _frame(session: Session) -> dict[str, Any]:
    return {"nav": "sessions", "session": session}
