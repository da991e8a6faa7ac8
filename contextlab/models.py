"""What the wiring itself must remember: which workers live, and which login links are open."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils import timezone

from sessions_app.secret_digest import secret_digest


class WorkerHeartbeat(models.Model):
    """When a worker's main process was last alive."""

    FORGOTTEN = timedelta(days=1)

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}, seen {self.seen_at:%Y-%m-%d %H:%M:%S}"

    @staticmethod
    def record(name: str) -> None:
        """This worker is alive now; workers not seen for a day are forgotten."""
        now = timezone.now()
        WorkerHeartbeat.objects.bulk_create(
            [WorkerHeartbeat(name=name, seen_at=now)],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["seen_at"],
        )
        WorkerHeartbeat.objects.filter(seen_at__lt=now - WorkerHeartbeat.FORGOTTEN).delete()


class LoginLink(models.Model):
    """A link that logs its user in once. The token itself is shown once and never stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"login link of {self.user}, until {self.expires_at:%Y-%m-%d %H:%M}"

    @classmethod
    def issue(cls, user: User) -> str:
        """A new token for this user; an older link that was not used stops working."""
        token = secrets.token_urlsafe(32)
        with transaction.atomic():
            cls.objects.filter(user=user, used_at=None).delete()
            cls.objects.create(
                user=user,
                token_hash=secret_digest(token),
                expires_at=timezone.now() + timedelta(minutes=settings.LOGIN_LINK_MINUTES),
            )
        return token

    @classmethod
    def open(cls, token: str) -> models.QuerySet[LoginLink]:
        """The link of this token, if it can still be used."""
        return cls.objects.filter(
            token_hash=secret_digest(token),
            used_at=None,
            expires_at__gt=timezone.now(),
            user__is_active=True,
        )

    @classmethod
    def use(cls, token: str) -> User | None:
        """The user of this token, once; of two requests at the same time one gets None."""
        if not cls.open(token).update(used_at=timezone.now()):
            return None
        return cls.objects.select_related("user").get(token_hash=secret_digest(token)).user
