"""What makes decisions provable and repeatable: their checkpoints, and what live ones were made on."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.utils import timezone

from compaction_app.exact_json import ExactJson
from sessions_app.models import Session, Window

ROW_DIGEST_BYTES: Final = 16


class DecisionCheckpoint(models.Model):
    """Digests of decisions that were stored together; they stay when the decisions are dropped.

    ``rows`` are the digests of the decisions with the keys from ``first`` to ``last``, in the order
    of the keys, 16 bytes each. ``link`` is over the link of the session's checkpoint before, the keys and
    ``rows``. ``dropped`` says how many of the decisions retention, or another audit of their turn, has
    taken away since.
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="checkpoints", db_index=False)
    number = models.PositiveIntegerField()
    first = models.PositiveBigIntegerField()
    last = models.PositiveBigIntegerField()
    rows = models.BinaryField()
    link = models.BinaryField(max_length=32)
    dropped = models.PositiveIntegerField(default=0)
    dropped_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("session", "number"), name="checkpoint_order"),
        )
        indexes = (models.Index(fields=("session", "last"), name="checkpoint_keys"),)

    @property
    def count(self) -> int:
        """How many decisions it covers."""
        return len(self.rows) // ROW_DIGEST_BYTES

    def __str__(self) -> str:
        return f"checkpoint {self.number} of {self.session}"


class Backfill(models.Model):
    """How far what is older than chains and checkpoints has got its own: one row, made once.

    Decisions with keys up to ``until`` were there before; those up to ``done`` are covered by now.
    Records up to the keys ``compactions`` and ``flushes`` were there too. What is newer and has no link was
    not written by us.
    """

    until = models.PositiveBigIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)
    compactions = models.PositiveBigIntegerField(default=0)
    flushes = models.PositiveBigIntegerField(default=0)


class StoredConfig(models.Model):
    """A configuration that decisions were made under, once for all of them.

    ``digest`` is that of the decision's policy record; texts under names of secrets are left out of ``data``.
    """

    digest = models.CharField(max_length=16, unique=True)
    data = ExactJson(default=dict)


class LiveStep(models.Model):
    """What a live session's decisions were made on, so that they can be made again.

    The window held ``entries`` entries and ``content_bytes`` bytes and ended at ``head``; ``index``,
    ``run`` and ``queued`` are what the session remembered, ``system`` the sizes of the system prompt.
    ``asked`` says what was asked for: ``prompt``, the new message ({"entry": id} where it was stored
    unchanged behind, {"message": ...} else), and for a compaction its trigger. ``first`` and
    ``last`` are the keys of the decisions.
    """

    class Kind(models.TextChoices):
        CALL = "call", "before a model call"
        ANSWER = "answer", "after an answer"
        COMPACTION = "compaction", "a compaction's"
        FLUSH = "flush", "a memory flush's"

    session = models.ForeignKey(Session, models.CASCADE, related_name="live_steps")
    window = models.ForeignKey(Window, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    turn = models.PositiveIntegerField()
    entries = models.PositiveIntegerField()
    content_bytes = models.PositiveBigIntegerField()
    head = models.CharField(max_length=128, blank=True)
    now_ms = models.BigIntegerField()
    index = ExactJson(default=dict)
    run = ExactJson(default=dict)
    queued = ExactJson(default=list)
    system = ExactJson(default=dict)
    asked = ExactJson(default=dict)
    first = models.PositiveBigIntegerField(null=True)
    last = models.PositiveBigIntegerField(null=True)

    class Meta:
        indexes = (models.Index(fields=("session", "last"), name="live_step_keys"),)

    def __str__(self) -> str:
        return f"{self.kind}, turn {self.turn}"
