"""How long decisions are kept: by age and by number, but a compaction's as long as its session."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from compaction_app import checkpoints
from compaction_app.audits import COMPACTION_STAGES
from compaction_app.models import AppendOnlyRows, Decision

AT_ONCE: Final = 5_000
"""Rows that one statement drops, so that no other writer waits for long."""


def drop_old(now: datetime | None = None) -> int:
    """Drop what is older than ``DECISION_DAYS``, and the oldest beyond ``DECISION_ROWS``; how many."""
    dropped = 0
    if settings.DECISION_DAYS:
        oldest = (now or timezone.now()) - timedelta(days=settings.DECISION_DAYS)
        dropped += _drop(_droppable().filter(created_at__lt=oldest))
    if settings.DECISION_ROWS:
        beyond = _first_beyond(settings.DECISION_ROWS)
        dropped += _drop(_droppable().filter(pk__lte=beyond)) if beyond is not None else 0
    return dropped


def _droppable() -> AppendOnlyRows:
    return Decision.objects.exclude(stage__in=COMPACTION_STAGES)


def _first_beyond(kept: int) -> int | None:
    """The key of the newest row that is one too many; none while there are fewer."""
    keys = Decision.objects.order_by("-pk").values_list("pk", flat=True)
    return keys[kept : kept + 1].first()


def _drop(rows: AppendOnlyRows) -> int:
    dropped = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        dropped += checkpoints.drop(Decision.objects.filter(pk__in=keys))
    return dropped
