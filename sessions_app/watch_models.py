"""The folders that a ``manage.py watch`` follows, and how it is doing."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class WatchedFolder(models.Model):
    """A folder of the machine on which the watcher runs; its row is how it and the page talk."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey("sessions_app.Team", models.CASCADE, related_name="watched_folders")
    path = models.CharField(max_length=1000)
    created_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(null=True, help_text="when the watcher last said it is there")
    files = models.PositiveIntegerField(default=0, help_text="transcripts and stores in it")
    news = models.PositiveIntegerField(default=0, help_text="times something new was read")
    news_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True, help_text="what last went wrong")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "path"), name="one_watch_per_folder"),
        )

    def __str__(self) -> str:
        return self.path
