"""Replays in the admin: by permission, whatever team a row belongs to."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from compaction_app import compaction_replays
from compaction_app.chosen import choices
from compaction_app.compaction_replay import compaction_context
from compaction_app.models import CompactionRecord
from sessions_app.admin_lists import EvidenceAdmin
from sessions_app.models import Job


def replay_of(name: str) -> Any:
    """A link to the replay of a row in the admin, whatever team it belongs to."""

    @admin.display(description="replay")
    def link(row: Any) -> str:
        return format_html('<a href="{}">replay</a>', reverse(f"admin:{name}", args=[row.pk]))

    return link


def viewed(page: EvidenceAdmin, request: HttpRequest, rows: QuerySet[Any], key: int) -> Any:
    """The row of that key, by permission and not by team.

    Raises:
        PermissionDenied, Http404: for who may not look, and where there is none.
    """
    row = get_object_or_404(rows, pk=key)
    if not page.has_view_permission(request, row):
        raise PermissionDenied
    return row


class CompactionReplays(EvidenceAdmin):
    """The page that makes a compaction again beside its record."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.replay_page)
        return [path("<int:key>/replay/", page, name="replay-compaction"), *super().get_urls()]

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("compaction_app.replay_decision")

    def replay_page(self, request: HttpRequest, key: int) -> HttpResponse:
        """A compaction made again beside its record; POST asks for a summary by a chosen summariser."""
        rows = CompactionRecord.objects.select_related("session__agent", "session__team", "step")
        record = viewed(self, request, rows.select_related("window"), key)
        if not self.has_replay_permission(request):
            raise PermissionDenied
        names = choices(record.session.team)
        if request.method == "POST":
            return self._ask_for_new(request, record, names)
        job = self._job_of(request, record)
        context = {
            **self.admin_site.each_context(request),
            **compaction_context(record, request.GET.dict(), job),
            "title": f"Compaction of {record.session}",
            "opts": self.opts,
            "record": record,
            "job": job,
            "summarisers": names,
        }
        answer = TemplateResponse(request, "admin/compaction.html", context)
        if job is not None and job.is_open:
            answer["Refresh"] = "3"
        return answer

    def _ask_for_new(
        self, request: HttpRequest, record: CompactionRecord, names: list[str]
    ) -> HttpResponse:
        name = request.POST.get("summariser", "")
        if name not in names or record.step is None:
            self.message_user(request, "There is no such summariser here.", messages.ERROR)
            return redirect("admin:replay-compaction", record.pk)
        user = cast(User, request.user)
        job = compaction_replays.request_new_summary(user, record, name, request.GET.dict())
        self.log_addition(request, job, f"A summary anew by {name} of compaction {record.uuid}.")
        query = request.GET.copy()
        query["job"] = str(job.uuid)
        address = reverse("admin:replay-compaction", args=[record.pk])
        return redirect(f"{address}?{query.urlencode()}")

    def _job_of(self, request: HttpRequest, record: CompactionRecord) -> Job | None:
        try:
            wanted = UUID(request.GET.get("job", ""))
        except ValueError:
            return None
        jobs = Job.objects.filter(uuid=wanted, kind=compaction_replays.KIND)
        return jobs.filter(arguments__record=str(record.uuid)).first()
