"""What is left of a session that was deleted: no text of it, only that it was, and its last digest."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class Tombstone(models.Model):
    """A deleted session. Whoever kept its messages can still show that they are those of then.

    ``digest`` is over ``chains``, the ends of its chains: {name: {...counts, "link": hex}}. ``link`` is the
    tombstone's own place in a chain of all of them, so that none can be taken away unseen.
    The team stands here by its id, for it may be deleted too.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session_uuid = models.UUIDField(db_index=True)
    team_uuid = models.UUIDField(db_index=True)
    source = models.CharField(max_length=20)
    is_live = models.BooleanField()
    entries = models.PositiveIntegerField()
    chains = models.JSONField(default=dict)
    digest = models.BinaryField(max_length=32)
    deleted_at = models.DateTimeField(default=timezone.now)
    deleted_by = models.CharField(max_length=150, blank=True, help_text="a user, or a token's name")
    link = models.BinaryField(max_length=32)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return str(self.session_uuid)
