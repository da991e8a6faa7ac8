"""Who may see what: everything is loaded through these, by team. Other teams' things are 404."""

from __future__ import annotations

from typing import TypeVar, cast
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404

from sessions_app.hidden_secrets import showing_row
from sessions_app.models import Membership, Team

Owned = TypeVar("Owned", bound=Model)
Viewer = AbstractBaseUser | AnonymousUser


def visible(things: QuerySet[Owned], user: Viewer) -> QuerySet[Owned]:
    """Those of ``things`` (a model with a ``team``) that belong to one of the user's teams."""
    if user.pk is None:  # as a condition this would mean the teams without members
        return things.none()
    return things.filter(team__memberships__user=user.pk)


def load(things: QuerySet[Owned], user: Viewer, uuid: UUID) -> Owned:
    """One of them.

    Raises:
        Http404: when it is not there or another team's; the answer does not tell which.
    """
    return one(visible(things, user), uuid)


def one(things: QuerySet[Owned], uuid: UUID) -> Owned:
    """The one of ``things`` with that uuid; Http404 without."""
    found = things.filter(uuid=uuid).first()
    if found is None:
        raise Http404(f"No such {things.model._meta.verbose_name}.")
    showing_row(found)
    return found


def team_of(user: Viewer) -> Team:
    """The team that owns what the user brings in: the one joined first, else one of their own."""
    return _first_team(user) or _team_of_their_own(user)


def _first_team(user: Viewer) -> Team | None:
    joined = Membership.objects.filter(user=user.pk).select_related("team").order_by("pk").first()
    return joined.team if joined else None


@transaction.atomic
def _team_of_their_own(user: Viewer) -> Team:
    """Made under the lock of the user's row, so that two uploads at once make one team."""
    owner = User.objects.select_for_update().get(pk=cast(int, user.pk))
    joined = _first_team(owner)
    if joined:
        return joined
    team = Team.objects.create(name=owner.get_username()[:100])
    Membership.objects.create(team=team, user=owner, role=Membership.Role.OWNER)
    return team
