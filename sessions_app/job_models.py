"""Work for workers: the job, each time it was taken up, and what it wrote about itself."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class Job(models.Model):
    """Work for a worker. The row is the truth; the Celery message only wakes somebody.

    ``holder`` is another value each time a worker takes the job, so that one which has lost it can
    write nothing more. ``attempts`` counts from the last time that somebody asked for the job.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"

    OPEN = (State.QUEUED, State.RUNNING)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey("sessions_app.Team", models.CASCADE, related_name="jobs")
    session = models.ForeignKey(
        "sessions_app.Session", models.CASCADE, null=True, related_name="jobs"
    )
    kind = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    title = models.CharField(max_length=300)
    arguments = models.JSONField(default=dict)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    step = models.CharField(max_length=200, blank=True, help_text="such as: chunk 3 of 7")
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True)
    holder = models.UUIDField(null=True, editable=False)
    cancel_asked = models.BooleanField(default=False)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)
    woken_at = models.DateTimeField(null=True, help_text="when a worker was last told of it")
    started_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=("team", "-created_at")),
            models.Index(fields=("state", "leased_until")),
            models.Index(fields=("session", "state")),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.title}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN


class JobAttempt(models.Model):
    """One time that a worker had a job; ``outcome`` is empty while it has it.

    ``lost``: the worker was not heard of any more. ``put_back``: it could not go on, but somebody can.
    """

    class Outcome(models.TextChoices):
        GOING_ON = ""
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        LOST = "lost"
        PUT_BACK = "put_back", "put back"

    job = models.ForeignKey(Job, models.CASCADE, related_name="tries")
    holder = models.UUIDField()
    worker = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("pk",)


class JobLine(models.Model):
    """A line of a job's log. Ids and numbers, never a transcript's text."""

    class Level(models.TextChoices):
        INFO = "info"
        WARNING = "warning"
        ERROR = "error"

    job = models.ForeignKey(Job, models.CASCADE, related_name="lines")
    at = models.DateTimeField(default=timezone.now)
    level = models.CharField(max_length=10, choices=Level.choices, default=Level.INFO)
    text = models.CharField(max_length=500)

    class Meta:
        ordering = ("pk",)
