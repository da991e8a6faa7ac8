"""Policies of agents, by version."""

from __future__ import annotations

import uuid

from django.conf import settings as site
from django.db import models
from django.utils import timezone

from compaction_app.engine.policy import Policy
from sessions_app.models import Agent


class PolicyVersion(models.Model):
    """One version of an agent's policy; a change makes a new one, none is ever edited.

    ``settings`` are the values set on purpose, by key as ``openclaw.json`` spells them below
    ``agents.defaults``; everything else is the agent's configuration or a default.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="policies")
    number = models.PositiveIntegerField(help_text="counts from 1")
    settings = models.JSONField(default=dict)
    rule_set = models.CharField(max_length=40)
    author = models.ForeignKey(site.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("agent", "number"), name="policy_order"),)

    def __str__(self) -> str:
        return f"{self.agent} v{self.number}"

    @property
    def mode(self) -> str:
        """``default`` or ``safeguard``."""
        return str(self.settings.get("compaction.mode", Policy().compaction_mode))
