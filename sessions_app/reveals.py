"""Showing what is hidden: who may, and the note that is kept of everybody who did."""

from __future__ import annotations

from django.contrib.auth.models import User

from sessions_app import teams
from sessions_app.models import ApiToken, Reveal, Session


class MayNotReveal(Exception):
    """Whoever asks is no owner or admin of the team."""


def may_reveal(user: User, session: Session) -> bool:
    """Whether somebody may see what is hidden in a session: owners and admins of its team."""
    return teams.manages(user, session.team)


def reveal(session: Session, what: str, user: User | None, token: ApiToken | None = None) -> Reveal:
    """Note that somebody is shown ``what`` of a session, before it is shown.

    Raises:
        MayNotReveal: when a user asks who manages nothing there; the scope of a token is asked for
            by who calls.
    """
    if token is None and (user is None or not may_reveal(user, session)):
        raise MayNotReveal("Only owners and admins of the team can see what is hidden.")
    user = token.user if token else user
    by = user.get_username() if user else "a user who is gone"
    return Reveal.objects.create(
        team_id=session.team_id,
        user=user,
        by=(f"{by}, by the token {token}" if token else by)[:300],
        session=session,
        what=f"{what} of {session.title}"[:300],
    )
