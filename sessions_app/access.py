"""Who may see what: everything is loaded through these, by team. Other teams' things are 404."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model, QuerySet
from django.http import Http404

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
    found = visible(things, user).filter(uuid=uuid).first()
    if found is None:
        raise Http404(f"No such {things.model._meta.verbose_name}.")
    return found


def team_of(user: Viewer) -> Team:
    """The team that owns what the user brings in: the one joined first.

    Raises:
        Http404: for a user without a team.
    """
    membership = (
        Membership.objects.filter(user=user.pk).select_related("team").order_by("pk").first()
    )
    if membership is None:
        raise Http404("You belong to no team yet; ask an owner to add you.")
    return membership.team
