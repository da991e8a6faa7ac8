"""Keep a what-if, and forget it again."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from compaction_app.forms import read_query
from compaction_app.kept_models import KeptWhatIf
from compaction_app.kept_what_ifs import NotKept, keep
from compaction_app.runs import situation_of
from sessions_app import access
from sessions_app.models import Session


@require_POST
def keep_what_if(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The what-if of the query, under the name of the form."""
    session = access.load(Session.objects.select_related("agent"), request.user, uuid)
    situation = situation_of(session)
    query = read_query(request.GET.dict(), situation)
    try:
        kept = keep(situation, query, request.POST.get("name", ""), cast(User, request.user))
    except NotKept as refused:
        messages.error(request, str(refused))
        address = request.GET.urlencode()
    else:
        messages.success(request, f"Kept as “{kept.name}”.")
        address = kept.address
    return redirect(f"{reverse('session', args=(uuid,))}?{address}#kept")


@require_POST
def forget_what_if(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A kept what-if goes; the session and its recording stay."""
    mine = access.visible(Session.objects.all(), request.user)
    kept = get_object_or_404(
        KeptWhatIf.objects.select_related("session"), uuid=uuid, session__in=mine
    )
    kept.delete()
    messages.success(request, f"“{kept.name}” is forgotten.")
    return redirect(f"{reverse('session', args=(kept.session.uuid,))}#kept")
