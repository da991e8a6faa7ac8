"""API tokens: shown once, kept as a digest, with a scope and an end.

A token holds 256 random bits, so a plain digest is enough: there is nothing to guess.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from sessions_app.models import ApiToken, Team
from sessions_app.secret_digest import secret_digest

PREFIX: Final = "clab_"
SHOWN_CHARS: Final = len(PREFIX) + 6
NOTED_EVERY: Final = timedelta(minutes=1)
"""The last use is written this often at most, so that a busy agent does not write a row a call."""

SCOPES: Final = tuple(ApiToken.Scope.values)
"""From the least to the most: each may do what those before it may."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """The row, and the only copy of the token itself."""

    row: ApiToken
    secret: str


def create(
    team: Team,
    user: AbstractBaseUser | None,
    name: str,
    scope: str,
    expires_at: datetime | None = None,
) -> NewToken:
    """A token of a team.

    Raises:
        ValueError: for a scope that does not exist, or an end that has passed.
    """
    if scope not in SCOPES:
        raise ValueError(f"scope: there is no {scope[:20]!r}; known: {', '.join(SCOPES)}.")
    if expires_at is not None and expires_at <= timezone.now():
        raise ValueError("expires: this moment has passed.")
    secret = PREFIX + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        team=team,
        user_id=user.pk if user else None,
        name=name.strip()[:100] or "unnamed",
        scope=scope,
        shown=secret[:SHOWN_CHARS],
        digest=secret_digest(secret),
        expires_at=expires_at,
    )
    return NewToken(row, secret)


def verify(secret: str, now: datetime | None = None) -> ApiToken | None:
    """The token of this text; none when it is unknown, or opens nothing any more."""
    now = now or timezone.now()
    found = opening(now).select_related("team").filter(digest=secret_digest(secret)).first()
    if found and (found.last_used_at is None or now - found.last_used_at > NOTED_EVERY):
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


def opening(now: datetime | None = None) -> QuerySet[ApiToken]:
    """Those that open something: not revoked, not at their end, their user active and in the team."""
    alive = Q(expires_at=None) | Q(expires_at__gt=now or timezone.now())
    member = Q(user__is_active=True, user__memberships__team=F("team"))
    return ApiToken.objects.filter(alive, Q(user=None) | member, revoked_at=None)


def revoke(token: ApiToken) -> None:
    """From now on it opens nothing; the row stays, so that it can be told what it was."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def may(token: ApiToken, scope: str) -> bool:
    """Whether the token's scope includes another."""
    return SCOPES.index(token.scope) >= SCOPES.index(scope)
