"""The memory files of agents: what flushes have written, note by note."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from sessions_app.models import Agent, Session, Team


class MemoryFile(models.Model):
    """A memory file of an agent. Its text is that of its notes, in order; nothing overwrites it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="memory_files")
    name = models.CharField(max_length=200, help_text="memory/YYYY-MM-DD.md")
    size = models.PositiveBigIntegerField(default=0, help_text="bytes of its text")
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("agent", "name"), name="one_memory_file_of_name"),
        )


class MemoryNote(models.Model):
    """What one flush appended to a file. ``flush`` names the flush: one writes each number once."""

    file = models.ForeignKey(MemoryFile, models.CASCADE, related_name="notes")
    text = models.TextField()
    session = models.ForeignKey(Session, models.SET_NULL, null=True, related_name="memory_notes")
    turn = models.PositiveIntegerField(null=True, help_text="of the session, counted from 1")
    flush = models.CharField(max_length=100, help_text="<session uuid>:<compactions before it>")
    number = models.PositiveSmallIntegerField(default=0, help_text="among the notes of the flush")
    is_mirrored = models.BooleanField(default=False, help_text="stands in the memory folder, too")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("flush", "number"), name="one_note_of_a_flush"),
        )
