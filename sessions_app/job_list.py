"""Jobs as people look at them: narrowed down, in pages, with what the queue and the workers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Min, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from sessions_app.jobs import KINDS
from sessions_app.listing import search_words
from sessions_app.models import Job, Session
from sessions_app.workers import Worker, workers

PER_PAGE = 50
SHOWN_LINES = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A job with its figures. Times in seconds; none where something has not happened yet.

    ``waits_for`` is the job that writes its session now; ``is_lost``: its worker is not heard of any more.
    """

    job: Job
    kind: str
    waited: float | None
    took: float | None
    share: float | None
    waits_for: Job | None = None
    is_lost: bool = False

    @property
    def said(self) -> str:
        """How far it is or what came of it, in words."""
        job = self.job
        if self.is_lost:
            return "nothing is heard of its worker any more; the next sweep gives it to another one"
        if job.state == Job.State.RUNNING:
            return job.step or "begun"
        if job.error:
            return job.error
        if job.state == Job.State.QUEUED:
            return (
                "waits for another job of this session" if self.waits_for else "waits for a worker"
            )
        return str(job.result.get("summary") or "done")

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
    until = job.leased_until
    is_lost = job.state == Job.State.RUNNING and until is not None and until < now
    return Row(job, kind.title if kind else job.kind, waited, took, share, waits_for, is_lost)


def jobs_page(found: QuerySet[Job], query: Mapping[str, str]) -> dict[str, Any]:
    """One page of ``found`` (what the viewer may see), narrowed by state, kind and words."""
    state, kind, words = query.get("state", ""), query.get("kind", ""), _words(query)
    groups = list(found.values("state", "kind").annotate(n=Count("pk")).order_by())
    counted, of_kind = _sums(groups, "state"), _sums(groups, "kind")
    chosen = found.select_related("session", "team")
    if state in Job.State.values:
        chosen = chosen.filter(state=state)
    if kind in KINDS:
        chosen = chosen.filter(kind=kind)
    if words:
        chosen = chosen.filter(Q(title__icontains=words) | Q(error__icontains=words))
    page = Paginator(chosen.order_by("-created_at", "-pk"), PER_PAGE).get_page(query.get("page"))
    now = timezone.now()
    writers = writers_of(found, page.object_list)
    return {
        "page": page,
        "rows": [row_of(job, now, writers.get(job.pk)) for job in page.object_list],
        "states": [(value, counted.get(value, 0)) for value in Job.State.values],
        "state": state if state in Job.State.values else "",
        "kinds": [(name, one.title, of_kind.get(name, 0)) for name, one in sorted(KINDS.items())],
        "kind": kind if kind in KINDS else "",
        "words": words,
        "is_moving": any(counted.get(one) for one in Job.OPEN),
        "queue": queue_state(found),
        "workers": _with_work(found),
    }


def writers_of(found: QuerySet[Job], rows: Iterable[Job]) -> dict[int, Job]:
    """For each job that waits for another one of its session: that one."""
    waiting = [
        job
        for job in rows
        if job.state == Job.State.QUEUED and job.session_id is not None and _is_alone(job.kind)
    ]
    if not waiting:
        return {}
    alone = [name for name, kind in KINDS.items() if kind.alone]
    sessions = {job.session_id for job in waiting}
    running = found.filter(state=Job.State.RUNNING, kind__in=alone, session__in=sessions)
    writing = {job.session_id: job for job in running}
    return {job.pk: writing[job.session_id] for job in waiting if job.session_id in writing}


def _with_work(found: QuerySet[Job]) -> list[tuple[Worker, int]]:
    """The workers, and how many of the jobs that the viewer may see each has in hand."""
    running = found.filter(state=Job.State.RUNNING).order_by()
    counted = {row["worker"]: row["n"] for row in running.values("worker").annotate(n=Count("pk"))}
    return [(worker, counted.get(worker.name, 0)) for worker in workers()]


def _is_alone(kind: str) -> bool:
    return kind in KINDS and KINDS[kind].alone


def _sums(groups: Iterable[Mapping[str, Any]], name: str) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for group in groups:
        counted[group[name]] += group["n"]
    return counted


def job_view(found: QuerySet[Job], job: Job) -> dict[str, Any]:
    """A job with its attempts and the end of its log."""
    other = writers_of(found, [job]).get(job.pk)
    lines = list(job.lines.order_by("-pk")[: SHOWN_LINES + 1])
    made = job.arguments.get("copy")
    return {
        "copy": Session.objects.filter(uuid=made, team=job.team_id).first() if made else None,
        "row": row_of(job, timezone.now(), other),
        "made": _page_of_what_was_made(job),
        "job": job,
        "tries": list(job.tries.all()),
        "lines": lines[:SHOWN_LINES][::-1],
        "is_cut": len(lines) > SHOWN_LINES,
    }


def _page_of_what_was_made(job: Job) -> str:
    """The address of the record that a job has left, "" where there is none."""
    kind, record = KINDS.get(job.kind), job.result.get("record")
    return reverse(kind.page, args=[record]) if kind and kind.page and record else ""


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
