"""What compactions and memory flushes leave behind: how each came about, step by step."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from compaction_app.evidence_models import LiveStep
from compaction_app.exact_json import ExactJson
from sessions_app.models import Job, Session, Team, Window


class WorkRecord(models.Model):
    """What both have in common.

    ``cycle`` is how many compactions the session had before. ``trigger``: ``manual``, or what made it
    due. ``calls`` are the calls of the model in order: sizes of the prompt, the answer or the error,
    every try with the pause behind it, usage, cost in US dollars (none where unknown).
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, models.CASCADE, related_name="%(class)ss")
    window = models.ForeignKey(Window, models.CASCADE, related_name="+")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="%(class)ss")
    cycle = models.PositiveIntegerField()
    trigger = models.CharField(max_length=20)
    outcome = models.CharField(max_length=12)
    reason = models.CharField(max_length=80)
    message = models.TextField(blank=True)
    rule_set = models.CharField(max_length=40)
    summariser = models.CharField(max_length=200, blank=True)
    calls = models.JSONField(default=list)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(default=timezone.now)
    link = models.BinaryField(max_length=32, null=True, help_text="of the window's hash chain")
    entries_before = models.PositiveIntegerField(null=True, help_text="its place in the chain")
    records_before = models.PositiveIntegerField(null=True, help_text="its place in the chain")

    class Meta:
        abstract = True
        ordering = ("pk",)

    @property
    def seconds(self) -> float:
        return (self.finished_at - self.started_at).total_seconds()


class CompactionRecord(WorkRecord):
    """One compaction, or one that came to nothing. ``record`` is the engine's own (cut, chunks,
    attempts, verdicts); the summary itself stands in the entry ``entry_id``. Tokens are estimates."""

    COMPACTED = "compacted"

    instructions = models.TextField(blank=True)
    entry_id = models.CharField(max_length=128, blank=True)
    tokens_before = models.PositiveBigIntegerField(null=True)
    tokens_after = models.PositiveBigIntegerField(null=True)
    kept = models.PositiveIntegerField(null=True, help_text="entries behind the cut")
    dropped = models.PositiveIntegerField(null=True, help_text="entries that were summarised")
    came_in = models.PositiveIntegerField(default=0, help_text="entries appended while it ran")
    step = models.ForeignKey(
        LiveStep, models.SET_NULL, null=True, related_name="+", help_text="what it was decided on"
    )
    answers = ExactJson(null=True, help_text="what it was told, in order, to be run again")
    record = models.JSONField(default=dict)

    class Meta(WorkRecord.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("window", "cycle"),
                condition=Q(outcome="compacted"),
                name="one_compaction_of_a_cycle",
            ),
        )

    def __str__(self) -> str:
        return f"{self.session}: {self.outcome} ({self.reason})"


class FlushRecord(WorkRecord):
    """One memory flush, or one that was skipped. ``dialogue`` are the messages of the silent turn;
    ``in_transcript``: the turn is in the session's transcript too (none: there was no turn)."""

    WRITTEN, SILENT = "written", "silent"

    file = models.CharField(max_length=200, blank=True)
    notes = models.PositiveIntegerField(default=0, help_text="that it appended")
    reply = models.TextField(blank=True, help_text="what it said aloud, without NO_REPLY")
    dialogue = models.JSONField(default=list)
    in_transcript = models.BooleanField(null=True)

    class Meta(WorkRecord.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("window", "cycle"),
                condition=Q(outcome__in=("written", "silent")),
                name="one_flush_of_a_cycle",
            ),
        )

    def __str__(self) -> str:
        return f"{self.session}: flush {self.outcome} ({self.reason})"


class KeptAnswer(models.Model):
    """What a model has answered to one ``question`` (its digest, and which time it was asked) of a
    compaction that is not written yet; ``call`` is the row of the record without the text."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="kept_answers")
    question = models.CharField(max_length=80)
    answer = models.TextField(blank=True)
    call = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "question"), name="one_answer_to_a_question"),
        )
