"""The owner account: exists from the first start, has no password until its owner sets one."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from contextlab.models import LoginLink
from sessions_app.models import Membership, Team

OWNER = "owner"


def owner() -> User | None:
    """The first administrator."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()


def create_owner() -> User:
    """An administrator who can log in by a one-time link only, and owns the first team.

    What was imported before the first start belongs to that team already.
    """
    user = User.objects.create_superuser(OWNER)
    team = Team.objects.order_by("pk").first() or Team.objects.create(name="Owner")
    Membership.objects.create(team=team, user=user, role=Membership.Role.OWNER)
    return user


def login_address(user: User) -> str:
    """A fresh one-time address that logs this user in."""
    return settings.PUBLIC_URL + reverse("login-link", args=[LoginLink.issue(user)])
