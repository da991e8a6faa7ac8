"""The files of an agent's workspace: texts by digest, the files as they are, and what each call saw."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class WorkspaceText(models.Model):
    """A text of a team's workspaces, once however many files and snapshots hold it."""

    team = models.ForeignKey("sessions_app.Team", models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of its UTF-8 bytes")
    text = models.TextField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("team", "digest"), name="one_text"),)


class WorkspaceFile(models.Model):
    """A file of an agent's workspace as it is now."""

    agent = models.ForeignKey("sessions_app.Agent", models.CASCADE, related_name="workspace_files")
    name = models.CharField(max_length=200)
    content = models.ForeignKey(WorkspaceText, models.CASCADE, related_name="+")
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("agent", "name"), name="one_file_of_name"),)


class WorkspaceSnapshot(models.Model):
    """All files of a workspace at one moment: ``files`` are digests by name. Never changed."""

    agent = models.ForeignKey("sessions_app.Agent", models.CASCADE, related_name="snapshots")
    digest = models.CharField(max_length=64, help_text="SHA-256 of names and digests")
    files = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("agent", "digest"), name="one_snapshot"),)


class WorkspaceUse(models.Model):
    """From this entry on the calls of a window saw the snapshot, until the next use."""

    window = models.ForeignKey("sessions_app.Window", models.CASCADE, related_name="workspace_uses")
    from_seq = models.PositiveIntegerField()
    snapshot = models.ForeignKey(WorkspaceSnapshot, models.CASCADE, related_name="uses")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("window", "from_seq"), name="one_use"),)
