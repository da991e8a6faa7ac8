"""What is stored of decisions: append-only rows, each with everything that explains it.

Policies and memory have modules of their own; Django looks for all models here.
"""

from __future__ import annotations

import uuid
from typing import Any, NoReturn

from django.db import models
from django.utils import timezone

from compaction_app.anchor_models import AnchorBlock as AnchorBlock
from compaction_app.connection_models import ModelConnection as ModelConnection
from compaction_app.evidence_models import Backfill as Backfill
from compaction_app.evidence_models import DecisionCheckpoint as DecisionCheckpoint
from compaction_app.evidence_models import LiveStep as LiveStep
from compaction_app.evidence_models import StoredConfig as StoredConfig
from compaction_app.exact_json import ExactJson
from compaction_app.kept_models import KeptWhatIf as KeptWhatIf
from compaction_app.memory_models import MemoryFile as MemoryFile
from compaction_app.memory_models import MemoryNote as MemoryNote
from compaction_app.policy_models import PolicyVersion as PolicyVersion
from compaction_app.record_models import CompactionRecord as CompactionRecord
from compaction_app.record_models import FlushRecord as FlushRecord
from compaction_app.record_models import KeptAnswer as KeptAnswer
from compaction_app.webhook_models import Webhook as Webhook
from compaction_app.webhook_models import WebhookDelivery as WebhookDelivery
from sessions_app.models import Session, Window


class AppendOnly(TypeError):
    """A row that is kept as evidence was about to be changed."""


class AppendOnlyRows(models.QuerySet["Decision"]):
    """Rows can be added and dropped, never changed."""

    def update(self, **values: Any) -> NoReturn:
        raise AppendOnly("Decisions are never changed; add another.")


class Decision(models.Model):
    """One rule applied once, also when it did not fire (``engine.decision.Decision``).

    ``stage`` is its place in the turn's order, ``rule`` the kind of rule; ``call`` the number of the
    next model call in the turn. ``entries`` are ids of entries by what they are to the decision;
    ``policy`` the explicit settings and circumstances that it was made under.
    """

    class Reading(models.TextChoices):
        AUDIT = "audit", "audit: judged on what was recorded"
        WHAT_IF = "what_if", "what-if: decisions take effect"
        LIVE = "live", "live: made while the session ran"

    class Run(models.TextChoices):
        TURN = "turn"
        FLUSH = "flush"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="decisions", db_index=False)
    window = models.ForeignKey(
        Window, models.CASCADE, null=True, blank=True, related_name="decisions"
    )
    reading = models.CharField(max_length=8, choices=Reading.choices)
    turn = models.PositiveIntegerField()
    run = models.CharField(max_length=8, choices=Run.choices, default=Run.TURN)
    attempt = models.PositiveIntegerField(default=0)
    call = models.PositiveIntegerField(default=1)
    stage = models.CharField(max_length=40)
    rule = models.CharField(max_length=40)
    fired = models.BooleanField()
    outcome = models.CharField(max_length=80)
    reason = models.CharField(max_length=80)
    rule_set = models.CharField(max_length=80)
    inputs = ExactJson(default=dict, blank=True, help_text="the numbers compared, by name")
    steps = ExactJson(default=list, blank=True, help_text="[name, formula, value, unit] in order")
    entries = ExactJson(default=dict, blank=True, help_text="ids of entries, by what they are here")
    policy = ExactJson(null=True, blank=True, help_text="explicit settings and circumstances")
    duration_us = models.PositiveBigIntegerField(null=True, blank=True, help_text="microseconds")
    created_at = models.DateTimeField(default=timezone.now)

    objects = AppendOnlyRows.as_manager()

    class Meta:
        permissions = (("replay_decision", "Can replay decision"),)
        # Each filter of a list is an equality, and lists are in the order of rows: newest last.
        indexes = (
            models.Index(fields=("session", "reading", "turn", "id"), name="decision_turns"),
            models.Index(fields=("session", "rule", "id"), name="decision_session_rule"),
            models.Index(fields=("rule", "id"), name="decision_rule"),
            models.Index(fields=("outcome", "id"), name="decision_outcome"),
            models.Index(fields=("reason", "id"), name="decision_reason"),
            models.Index(fields=("rule_set", "id"), name="decision_rule_set"),
            models.Index(fields=("created_at", "id"), name="decision_date"),
        )

    def __str__(self) -> str:
        return f"{self.rule}: {self.outcome} ({self.reason}), turn {self.turn}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("A decision is never changed; add another.")
        super().save(*args, **kwargs)


class AuditedTurn(models.Model):
    """A turn of a recording as the audit judged it; its decisions are rows of their own.

    ``start`` and ``prompt`` are places in the window: where the turn begins, where its prompt stands.
    ``index`` is the session's entry in the store as the recording must have had it before the turn, so
    that a turn can be judged again without those before it. ``events`` are what the rules let happen
    ({kind, call, before, after, threshold, reason, decision}; ``decision`` counts the turn's decisions
    from 0), ``recorded`` what the recording shows ({flushes, compactions, replies}). ``first`` and
    ``last`` are the keys of its decisions; nothing else was written of this turn between the two.
    ``sent`` are its model calls ({run, number, entry, prompt, output, messages, cut}).
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="audited_turns")
    window = models.ForeignKey(Window, models.CASCADE, related_name="audited_turns")
    number = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    prompt = models.PositiveIntegerField()
    entries = models.PositiveIntegerField(help_text="of the window that were known")
    kind = models.CharField(max_length=10)
    outcome = models.CharField(max_length=12)
    agrees = models.BooleanField()
    calls = models.PositiveIntegerField()
    index = ExactJson(default=dict)
    sent = ExactJson(default=list)
    events = ExactJson(default=list)
    recorded = ExactJson(default=dict)
    policy = ExactJson(default=dict)
    first = models.PositiveBigIntegerField(null=True)
    last = models.PositiveBigIntegerField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("window", "number"), name="audited_turn_order"),
        )

    def __str__(self) -> str:
        return f"turn {self.number}: {self.outcome}"
