"""Pages of policies, and a what-if's policy put to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from compaction_app.engine.policy import PolicyError
from compaction_app.engine.presets import PRESETS
from compaction_app.forms import base_rules, read_query
from compaction_app.models import PolicyVersion
from compaction_app.policies import VersionMoved, newest_version, save_version
from compaction_app.policy_page import policies_context, policy_context
from compaction_app.runs import situation_of
from sessions_app import access
from sessions_app.models import Agent, Session


@require_safe
def policies(request: HttpRequest) -> HttpResponse:
    shown = policies_context(access.visible(Agent.objects.all(), request.user))
    return render(request, "compaction/policies.html", {"nav": "policies", **shown})


@require_safe
def policy(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One version beside the one before it, or beside ``with=<number>``; 0 is the configuration."""
    version = _version(request, uuid)
    number = request.GET.get("with", str(version.number - 1))
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise Http404("No such version.")
    other = None
    if int(number):
        other = get_object_or_404(PolicyVersion, agent=version.agent, number=int(number))
    context = {"nav": "policies", **policy_context(version, other)}
    return render(request, "compaction/policy.html", context)


@require_POST
def restore(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """An older version's settings as a new version."""
    version = _version(request, uuid)
    note = f"as version {version.number}"
    return _saved(request, version.agent, version.settings, version.rule_set, note)


@require_POST
def use_preset(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A preset's settings as a new version of an agent's policy."""
    agent = access.load(Agent.objects.all(), request.user, uuid)
    chosen = next((p for p in PRESETS if p.name == request.POST.get("preset")), None)
    if chosen is None:
        raise Http404("No such preset.")
    settings = {key: value for key, value in chosen.changes.items() if value is not None}
    newest = newest_version(agent)
    rule_set = newest.rule_set if newest else None
    return _saved(request, agent, settings, rule_set, f"preset: {chosen.title}")


@require_POST
def use_what_if(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The policy of a what-if as a new version of the session's agent's policy."""
    sessions = Session.objects.select_related("agent")
    session = access.load(sessions, request.user, uuid)
    if session.agent is None:
        messages.error(request, "The session belongs to no agent whose policy could be changed.")
        return redirect("session", uuid)
    situation = situation_of(session)
    query = read_query(request.GET.dict(), situation)
    if query.problems:
        messages.error(request, " ".join(query.problems.values()))
        return redirect("session", uuid)
    newest = newest_version(session.agent)
    changed = query.policy.changes(situation.policy)
    settings = {**(newest.settings if newest else {}), **changed}
    note = f"from a what-if of {session.title}"
    return _saved(request, session.agent, settings, base_rules(query.around), note)


def _version(request: HttpRequest, uuid: UUID) -> PolicyVersion:
    agents = access.visible(Agent.objects.all(), request.user)
    found = PolicyVersion.objects.select_related("agent", "author")
    return get_object_or_404(found, uuid=uuid, agent__in=agents)


def _saved(
    request: HttpRequest, agent: Agent, settings: Mapping[str, Any], rule_set: str | None, note: str
) -> HttpResponse:
    """Save a version, and show it; the reader's own number guards against another's change."""
    seen = request.POST.get("seen", "")
    expected = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else None
    more = {} if rule_set is None else {"rule_set": rule_set}
    try:
        version = save_version(
            agent, settings, author=request.user, note=note, expected=expected, **more
        )
    except VersionMoved as moved:
        messages.error(
            request, f"Version {moved.newest} was saved meanwhile. Look at it, and try again."
        )
        return redirect("policies")
    except PolicyError as error:
        messages.error(request, str(error))
        return redirect("policies")
    messages.success(
        request,
        f"Saved as version {version.number} of {agent.name}’s policy. It holds for live sessions; "
        "imported ones stay under the configuration they were recorded with.",
    )
    return redirect("policy", version.uuid)
