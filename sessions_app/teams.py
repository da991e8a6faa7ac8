"""Teams: who is in them, in which role, and how somebody else comes in."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from sessions_app.models import Invitation, Membership, Team
from sessions_app.secret_digest import secret_digest

INVITATION_DAYS: Final = 7
MANAGERS: Final = (Membership.Role.OWNER, Membership.Role.ADMIN)


class NotAllowed(Exception):
    """The change would break a rule of teams; the text says which."""


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """The row, and the only copy of the secret in its link."""

    row: Invitation
    secret: str


def manages(user: User, team: Team) -> bool:
    """Whether a user may invite to a team and change its members."""
    return Membership.objects.filter(team=team, user=user, role__in=MANAGERS).exists()


def invite(team: Team, by: User, role: str, note: str = "") -> NewInvitation:
    """A link into a team, for a week and one person.

    Raises:
        NotAllowed: when ``by`` does not manage the team, or gives more than they have.
    """
    own = Membership.objects.filter(team=team, user=by).first()
    if own is None or own.role not in MANAGERS:
        raise NotAllowed("Only owners and admins of a team can invite.")
    if role not in Membership.Role.values:
        raise NotAllowed(f"There is no role {role[:20]!r}.")
    if role == Membership.Role.OWNER and own.role != Membership.Role.OWNER:
        raise NotAllowed("Only an owner can invite another owner.")
    secret = secrets.token_urlsafe(32)
    row = Invitation.objects.create(
        team=team,
        invited_by=by,
        role=role,
        note=note.strip()[:100],
        digest=secret_digest(secret),
        expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
    )
    return NewInvitation(row, secret)


def open_invitations(now: datetime | None = None) -> QuerySet[Invitation]:
    """Those that can still be used; whoever gave one and has left the team takes it along."""
    return Invitation.objects.filter(
        used_at=None,
        expires_at__gt=now or timezone.now(),
        invited_by__is_active=True,
        invited_by__memberships__team=F("team"),
    )


def invitation_of(secret: str) -> Invitation | None:
    return open_invitations().select_related("team").filter(digest=secret_digest(secret)).first()


@transaction.atomic
def join(secret: str, user: User) -> Team | None:
    """Let a user in, once; none when the invitation is used up or over. A member keeps their role."""
    invitation = invitation_of(secret)
    if invitation is None:
        return None
    mine = Invitation.objects.filter(pk=invitation.pk, used_at=None)
    if not mine.update(used_at=timezone.now()):
        return None
    Membership.objects.get_or_create(
        team=invitation.team, user=user, defaults={"role": invitation.role}
    )
    return invitation.team


@transaction.atomic
def set_role(membership: Membership, by: User, role: str) -> None:
    """Give a member another role, or take them out with an empty one.

    Raises:
        NotAllowed: when ``by`` may not, or the team would be left without an owner.
    """
    team = Team.objects.select_for_update().get(pk=membership.team_id)
    own = Membership.objects.filter(team=team, user=by).first()
    leaves = not role and membership.user_id == by.pk
    if own is None or (own.role not in MANAGERS and not leaves):
        raise NotAllowed("Only owners and admins of a team can change its members.")
    is_owners = Membership.Role.OWNER in (role, membership.role)
    if is_owners and own.role != Membership.Role.OWNER:
        raise NotAllowed("Only an owner can make or change owners.")
    if role and role not in Membership.Role.values:
        raise NotAllowed(f"There is no role {role[:20]!r}.")
    if role != Membership.Role.OWNER and is_last_owner(membership):
        raise NotAllowed("A team needs an owner: make somebody else one first.")
    if role:
        Membership.objects.filter(pk=membership.pk).update(role=role)
    else:
        membership.delete()


def is_last_owner(membership: Membership) -> bool:
    """Whether a team would be without an owner if this member were none."""
    owners = Membership.objects.filter(team=membership.team_id, role=Membership.Role.OWNER)
    return not owners.exclude(pk=membership.pk).exists()
