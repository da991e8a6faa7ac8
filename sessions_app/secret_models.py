"""Secrets found in entries: where they stand, never what they are; and who has seen what is hidden."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone


class Secret(models.Model):
    """A stretch of a text of an entry. The text is the ``text``-th of its record, in the order in which
    they stand (``secret_texts.finding.texts_of``); ``start`` and ``end`` count its characters."""

    entry = models.ForeignKey("sessions_app.Entry", models.CASCADE, related_name="secrets")
    text = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("entry", "text", "start"), name="secret_once"),
        )

    def __str__(self) -> str:
        return f"{self.kind} in text {self.text}, {self.start} to {self.end}"


class Reveal(models.Model):
    """Somebody was shown what is hidden from others. Never changed, never deleted with its session."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey("sessions_app.Team", models.CASCADE, related_name="reveals")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    by = models.CharField(max_length=300, help_text="name of the user, and of the token if any")
    session = models.ForeignKey("sessions_app.Session", models.SET_NULL, null=True)
    what = models.CharField(max_length=300)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=("team", "-at"), name="reveal_by_time"),)

    def __str__(self) -> str:
        return f"{self.by}: {self.what}"
