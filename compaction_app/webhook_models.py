"""Who is told of what happens to an agent's sessions, and what became of each telling."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from sessions_app.models import Agent, Session, Team


class Webhook(models.Model):
    """An address that is told of events of an agent's sessions; each telling is signed."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    kinds = models.JSONField(default=list, help_text="kinds of events")
    sealed_secret = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One event for one address. ``log`` are the attempts: when, the status or the error, seconds."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    session = models.ForeignKey(Session, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    body = models.TextField(help_text="exactly what is signed and sent")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    log = models.JSONField(default=list)
    next_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=("state", "next_at")),)

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook_id}: {self.state}"
