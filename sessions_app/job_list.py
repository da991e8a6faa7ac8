"""Jobs as people look at them: narrowed down, in pages, with what the queue and the workers do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from sessions_app.jobs import KINDS
from sessions_app.listing import search_words
from sessions_app.models import Job, Session
from sessions_app.workers import workers

PER_PAGE = 50
SHOWN_LINES = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A job with its figures. Times in seconds; none where something has not happened yet.

    ``waits_for`` is the job that writes its session now.
    """

    job: Job
    kind: str
    waited: float | None
    took: float | None
    share: float | None
    waits_for: Job | None = None

    @property
    def can_cancel(self) -> bool:
        return self.job.is_open and not self.job.cancel_asked

    @property
    def can_retry(self) -> bool:
        return self.job.state in (Job.State.FAILED, Job.State.CANCELLED)


def row_of(job: Job, now: datetime, waits_for: Job | None = None) -> Row:
    kind = KINDS.get(job.kind)
    begun = job.started_at
    waited = None if begun is None else max(0.0, (begun - job.queued_at).total_seconds())
    took = None if begun is None else ((job.finished_at or now) - begun).total_seconds()
    share = min(1.0, job.done / job.total) if job.total else None
    return Row(job, kind.title if kind else job.kind, waited, took, share, waits_for)


def jobs_page(found: QuerySet[Job], query: Mapping[str, str]) -> dict[str, Any]:
    """One page of ``found`` (what the viewer may see), narrowed by state, kind and words."""
    state, kind, words = query.get("state", ""), query.get("kind", ""), _words(query)
    counted = {row["state"]: row["n"] for row in found.values("state").annotate(n=Count("pk"))}
    chosen = found.select_related("session", "team")
    if state in Job.State.values:
        chosen = chosen.filter(state=state)
    if kind in KINDS:
        chosen = chosen.filter(kind=kind)
    if words:
        chosen = chosen.filter(Q(title__icontains=words) | Q(error__icontains=words))
    page = Paginator(chosen.order_by("-created_at", "-pk"), PER_PAGE).get_page(query.get("page"))
    now = timezone.now()
    return {
        "page": page,
        "rows": [row_of(job, now) for job in page.object_list],
        "states": [(value, counted.get(value, 0)) for value in Job.State.values],
        "state": state if state in Job.State.values else "",
        "kinds": [(name, one.title) for name, one in sorted(KINDS.items())],
        "kind": kind if kind in KINDS else "",
        "words": words,
        "is_moving": any(counted.get(one) for one in Job.OPEN),
        "queue": queue_state(found),
        "workers": workers(),
    }


def job_view(found: QuerySet[Job], job: Job) -> dict[str, Any]:
    """A job with its attempts and the end of its log."""
    other = None
    if job.state == Job.State.QUEUED and job.session_id is not None and KINDS[job.kind].alone:
        running = found.filter(session=job.session_id, state=Job.State.RUNNING)
        other = running.exclude(pk=job.pk).first()
    lines = list(job.lines.order_by("-pk")[: SHOWN_LINES + 1])
    made = job.arguments.get("copy")
    return {
        "copy": Session.objects.filter(uuid=made, team=job.team_id).first() if made else None,
        "row": row_of(job, timezone.now(), other),
        "job": job,
        "tries": list(job.tries.all()),
        "lines": lines[:SHOWN_LINES][::-1],
        "is_cut": len(lines) > SHOWN_LINES,
    }


def queue_state(found: QuerySet[Job]) -> dict[str, Any]:
    """How many wait and run, and for how many seconds the oldest has waited."""
    waiting = found.filter(state=Job.State.QUEUED).aggregate(n=Count("pk"), first=Min("queued_at"))
    oldest: timedelta | None = timezone.now() - waiting["first"] if waiting["first"] else None
    return {
        "waiting": waiting["n"],
        "oldest": None if oldest is None else max(0.0, oldest.total_seconds()),
        "running": found.filter(state=Job.State.RUNNING).count(),
    }


def _words(query: Mapping[str, str]) -> str:
    return search_words(query.get("q", ""))
