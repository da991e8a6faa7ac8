"""Answers of a compaction's model, kept until the compaction is written.

Whoever does the job again, because a worker has died, the time was over or a person wants it, goes on
behind the portions that were answered already. An answer is used again for the very same question to
the very same model alone; anything that differs is asked anew.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from compaction_app.call_log import CallRow
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.models import KeptAnswer
from compaction_app.summarisers.interface import Summariser
from sessions_app.models import Job
from sessions_app.rows import storable, storable_json

KEPT_FOR = timedelta(days=7)
"""How long the answers of a job that has ended without a compaction are kept for its repetition."""


class KeptAnswers:
    """Those of one job, as one attempt at it reads and adds to them."""

    def __init__(self, job: Job) -> None:
        self._job = job
        rows = KeptAnswer.objects.filter(job=job).values_list("question", "answer", "call")
        self._known: dict[str, tuple[str, CallRow]] = {q: (text, call) for q, text, call in rows}
        self._times: Counter[str] = Counter()

    def question(self, summariser: Summariser, call: ModelCall) -> str:
        """What a question is known by. The same one asked twice in an attempt is two questions."""
        asked = [
            getattr(summariser, "identity", summariser.name),
            call.messages,
            call.reserve_tokens,
            call.previous_summary,
            call.instructions,
            call.turn_prefix,
        ]
        digest = hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()
        self._times[digest] += 1
        return f"{digest}:{self._times[digest]}"

    def answer(self, question: str) -> tuple[str, CallRow] | None:
        """The answer of an earlier attempt with its row of the record; none where there is none."""
        return self._known.get(question)

    def keep(self, question: str, answer: str, row: CallRow) -> None:
        """Keep an answer, unless a database cannot hold exactly this text."""
        if storable(answer, len(answer)) != answer:
            return
        own = {name: value for name, value in row.items() if name not in ("number", "answer")}
        values: dict[str, Any] = {"answer": answer, "call": storable_json(own)}
        KeptAnswer.objects.update_or_create(job=self._job, question=question, defaults=values)


def forget(job: Job) -> None:
    """The compaction is written, in the same transaction: its record holds what was answered."""
    KeptAnswer.objects.filter(job=job).delete()


def drop_old(now: datetime | None = None) -> int:
    """Drop what nobody came back for; how many."""
    before = (now or timezone.now()) - KEPT_FOR
    old = KeptAnswer.objects.filter(created_at__lt=before).exclude(job__state__in=Job.OPEN)
    return old.delete()[0]
