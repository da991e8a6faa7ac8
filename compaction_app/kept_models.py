"""What-ifs that somebody keeps, to come back to them and to compare them."""

from __future__ import annotations

import uuid

from django.conf import settings as site
from django.db import models
from django.utils import timezone

from sessions_app.models import Session


class KeptWhatIf(models.Model):
    """A what-if of a session under a name: its address says the policy, ``totals`` what came of it then.

    ``entries`` is how many the session held; ``totals`` are spelled as in the API. What it would give today
    is worked out anew from the address.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="kept_what_ifs")
    name = models.CharField(max_length=100)
    address = models.TextField(blank=True, help_text="query of the session's page")
    rule_set = models.CharField(max_length=60)
    totals = models.JSONField(default=dict)
    entries = models.PositiveIntegerField()
    author = models.ForeignKey(site.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("session", "name"), name="kept_what_if_name"),
        )

    def __str__(self) -> str:
        return self.name
