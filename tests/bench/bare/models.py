"""One table."""

from __future__ import annotations

from django.db import models


class Row(models.Model):
    """A body as it came."""

    session = models.UUIDField(db_index=True)
    body = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)
