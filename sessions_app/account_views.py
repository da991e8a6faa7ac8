"""Pages about who may come in: API tokens, the team, invitations."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app import access, api_tokens, teams
from sessions_app.models import ApiToken, Invitation, Membership, Team

if TYPE_CHECKING:
    _AccountForm = UserCreationForm[User]
else:
    _AccountForm = UserCreationForm

SHOWN_REVEALS = 50
ENDS = {"30": "in 30 days", "90": "in 90 days", "365": "in a year", "": "never"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The user's tokens; POST makes one and shows it this once."""
    team = access.team_of(request.user)
    made: api_tokens.NewToken | None = None
    if request.method == "POST":
        days = request.POST.get("days", "90")
        days = days if days in ENDS else "90"
        ends = timezone.now() + timedelta(days=int(days)) if days else None
        try:
            made = api_tokens.create(
                _team(request, request.POST.get("team", "")) or team,
                _user(request),
                request.POST.get("name", "").replace("\x00", ""),
                request.POST.get("scope", ""),
                ends,
            )
        except ValueError as error:
            messages.error(request, str(error))
    mine = ApiToken.objects.filter(user=request.user.pk).select_related("team").order_by("-pk")
    context = {
        "nav": "tokens",
        "made": made,
        "tokens": [token for token in mine if token.revoked_at is None],
        "revoked": [token for token in mine if token.revoked_at is not None][:20],
        "scopes": ApiToken.Scope.choices,
        "ends": ENDS,
        "teams": _teams(request),
        "now": timezone.now(),
    }
    return render(request, "sessions/tokens.html", context)


@require_POST
def revoke_token(request: HttpRequest, uuid: Any) -> HttpResponse:
    token = get_object_or_404(ApiToken, uuid=uuid, user=request.user.pk)
    api_tokens.revoke(token)
    messages.success(request, f"The token “{token.name}” opens nothing any more.")
    return redirect("tokens")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team(request: HttpRequest, uuid: Any = None) -> HttpResponse:
    """One team with its members; POST makes an invitation and shows its link this once."""
    shown = access.team_of(request.user) if uuid is None else _team(request, str(uuid))
    if shown is None:
        raise Http404("No such team.")
    link = ""
    if request.method == "POST":
        role, note = request.POST.get("role", ""), request.POST.get("note", "").replace("\x00", "")
        try:
            made = teams.invite(shown, _user(request), role, note)
        except teams.NotAllowed as error:
            messages.error(request, str(error))
        else:
            link = request.build_absolute_uri(reverse("join", args=[made.secret]))
    context = {
        "nav": "team",
        "team": shown,
        "teams": _teams(request),
        "members": shown.memberships.select_related("user").order_by("pk"),
        "manages": teams.manages(_user(request), shown),
        "reveals": shown.reveals.select_related("session").order_by("-at", "-pk")[:SHOWN_REVEALS],
        "invitations": teams.open_invitations().filter(team=shown).select_related("invited_by"),
        "roles": Membership.Role.choices,
        "link": link,
        "days": teams.INVITATION_DAYS,
    }
    return render(request, "sessions/team.html", context)


@require_POST
def member(request: HttpRequest, pk: int) -> HttpResponse:
    """Another role for a member, or none: then they are out."""
    mine = Membership.objects.filter(team__memberships__user=request.user.pk)
    found = get_object_or_404(mine.select_related("team"), pk=pk)
    try:
        teams.set_role(found, _user(request), request.POST.get("role", ""))
    except teams.NotAllowed as error:
        messages.error(request, str(error))
    if found.team.memberships.filter(user=request.user.pk).exists():
        return redirect("team", found.team.uuid)
    return redirect("sessions")


@require_POST
def withdraw(request: HttpRequest, uuid: Any) -> HttpResponse:
    """Take an invitation back."""
    found = get_object_or_404(Invitation.objects.select_related("team"), uuid=uuid)
    if not teams.manages(_user(request), found.team):
        raise Http404("No such invitation.")
    found.delete()
    return redirect("team", found.team.uuid)


@login_not_required
@never_cache
@sensitive_variables("secret")
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Into a team by its link; who has no account yet makes one here."""
    invitation = teams.invitation_of(secret)
    if invitation is None:
        return render(request, "sessions/join_refused.html", status=410)
    known = request.user.is_authenticated
    form = None if known else _AccountForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        user = _user(request) if form is None else form.save()
        joined = teams.join(secret, user)
        if joined is None:
            return render(request, "sessions/join_refused.html", status=410)
        if form is not None:
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        messages.success(request, f"You are in the team “{joined.name}” now.")
        return redirect("sessions")
    return render(request, "sessions/join.html", {"invitation": invitation, "form": form})


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)


def _teams(request: HttpRequest) -> list[Team]:
    return list(Team.objects.filter(memberships__user=request.user.pk).order_by("pk"))


def _team(request: HttpRequest, uuid: str) -> Team | None:
    return next((each for each in _teams(request) if str(each.uuid) == uuid), None)
