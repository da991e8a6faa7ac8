"""The admin of this floor: what was decided and done, to look at, never to change."""

from __future__ import annotations

from typing import cast, get_args
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from compaction_app import replays
from compaction_app.admin_replays import CompactionReplays, replay_of, viewed
from compaction_app.compaction_asks import MANUAL, TRIGGERS
from compaction_app.decision_codes import OUTCOMES, REASONS, RULES
from compaction_app.decision_page import decision_context
from compaction_app.engine.compaction.run import RunOutcome
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.exports import as_csv
from compaction_app.flush_jobs import DUE
from compaction_app.models import (
    CompactionRecord,
    Decision,
    FlushRecord,
    KeptWhatIf,
    MemoryFile,
    MemoryNote,
    PolicyVersion,
)
from compaction_app.runs import situation_of
from compaction_app.stages import title_of
from sessions_app.admin_lists import EvidenceAdmin, among, hex_of, json_of, page_of, text_of
from sessions_app.models import Job

LISTED = 100
ByReason = among("reason", REASONS)
ByRuleSet = among("rule_set", RULE_SETS)


@admin.register(Decision)
class DecisionAdmin(EvidenceAdmin):
    """A list that stays quick with a million rows; every filter has an index of its own."""

    list_display = ("uuid", replay_of("replay-decision"), page_of("decision"), "session_id", "turn", "rule", "fired", "outcome", "reason", "rule_set", "how", "created_at")  # fmt: skip
    list_filter = (
        among("rule", RULES, "kind"),
        among("outcome", OUTCOMES),
        ByReason,
        ByRuleSet,
        "reading",
        "fired",
        "created_at",
    )
    found_by = (("session", "uuid"),)
    search_help_text = "The id of a decision or of a session, in full."
    dated = "created_at"
    exclude = ("inputs", "steps", "entries", "policy")
    readonly_fields = (
        replay_of("replay-decision"),
        page_of("decision"),
        *(json_of(name) for name in exclude),
    )
    actions = ("replay",)

    @admin.display(description="reading")
    def how(self, row: Decision) -> str:
        return row.reading

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("compaction_app.replay_decision")

    @admin.action(description="Replay the selected decisions", permissions=["replay"])
    def replay(self, request: HttpRequest, chosen: QuerySet[Decision]) -> HttpResponse | None:
        rows = list(chosen.only("pk")[: replays.MOST + 1])
        if len(rows) > replays.MOST:
            self.message_user(request, f"At most {replays.MOST:,} at once.", messages.ERROR)
            return None
        job = replays.request_replay(cast(User, request.user), rows)
        self.log_addition(request, job, f"Replay of {len(rows):,} decisions.")
        return redirect("admin:replay", job.uuid)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("replays/<uuid:uuid>/", wrap(self.replay_page), name="replay"),
            path("replays/<uuid:uuid>.csv", wrap(self.replay_csv), name="replay-csv"),
            path("<int:key>/replay/", wrap(self.one_page), name="replay-decision"),
            *super().get_urls(),
        ]

    def one_page(self, request: HttpRequest, key: int) -> HttpResponse:
        """One decision of whatever team: its arithmetic, and its replay beside it."""
        rows = Decision.objects.select_related("session__agent", "window")
        row = viewed(self, request, rows, key)
        values = request.GET.dict()
        if "replay" in values and not self.has_replay_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            **decision_context(row, situation_of(row.session), values),
            "title": f"{row.rule}, turn {row.turn}: {row.outcome}",
            "heading": title_of(row.stage),
            "opts": self.opts,
            "may_replay": self.has_replay_permission(request),
        }
        return TemplateResponse(request, "admin/decision.html", context)

    def replay_page(self, request: HttpRequest, uuid: UUID) -> HttpResponse:
        """How far a replay is, and in the end how many agree."""
        job = self._replay_job(request, uuid)
        rows = [row for row in replays.rows_of(job) if row["verdict"] == replays.DIFFERS][:LISTED]
        found = Decision.objects.filter(uuid__in=[row["decision"] for row in rows])
        keys = {str(uuid): key for uuid, key in found.values_list("uuid", "pk")}
        context = {
            **self.admin_site.each_context(request),
            "title": job.title,
            "opts": self.opts,
            "job": job,
            "counts": list(job.result.get("counts", {}).items()),
            "differing": [row | {"key": keys.get(row["decision"])} for row in rows],
        }
        answer = TemplateResponse(request, "admin/replay.html", context)
        if job.is_open:
            answer["Refresh"] = "3"
        return answer

    def replay_csv(self, request: HttpRequest, uuid: UUID) -> HttpResponse:
        job = self._replay_job(request, uuid)
        answer = HttpResponse(as_csv(replays.rows_of(job)), "text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="replay-{job.uuid}.csv"'
        return answer

    def _replay_job(self, request: HttpRequest, uuid: UUID) -> Job:
        if not self.has_replay_permission(request):
            raise PermissionDenied
        return get_object_or_404(Job, uuid=uuid, kind=replays.KIND)


class RecordAdmin(EvidenceAdmin):
    """What compactions and flushes have in common."""

    list_select_related = ("team", "session")
    found_by = (("session", "uuid"), ("job", "uuid"), ("team", "uuid"))
    search_help_text = "The id of a record, a session, a job or a team, in full."


@admin.register(CompactionRecord)
class CompactionRecordAdmin(CompactionReplays, RecordAdmin):
    list_display = ("uuid", replay_of("replay-compaction"), page_of("compaction-record"), "session", "team", "cycle", "trigger", "outcome", "reason", "tokens_before", "tokens_after", "summariser", "finished_at")  # fmt: skip
    list_filter = (
        among("trigger", TRIGGERS),
        among("outcome", get_args(RunOutcome)),
        ByReason,
        ByRuleSet,
        "finished_at",
    )
    exclude = ("calls", "record", "answers", "link", "step")
    readonly_fields = (
        replay_of("replay-compaction"),
        page_of("compaction-record"),
        *(json_of(name) for name in exclude[:3]),
        hex_of("link"),
    )


@admin.register(FlushRecord)
class FlushRecordAdmin(RecordAdmin):
    list_display = ("uuid", page_of("flush-record"), "session", "team", "cycle", "trigger", "outcome", "reason", "notes", "file", "summariser", "finished_at")  # fmt: skip
    list_filter = (
        among("trigger", (MANUAL, DUE)),
        among("outcome", (FlushRecord.WRITTEN, FlushRecord.SILENT, "skipped", "failed")),
        ByReason,
        ByRuleSet,
        "finished_at",
    )
    exclude = ("calls", "dialogue", "link")
    readonly_fields = (
        page_of("flush-record"),
        *(json_of(name) for name in exclude[:2]),
        hex_of("link"),
    )


@admin.register(PolicyVersion)
class PolicyVersionAdmin(EvidenceAdmin):
    """A change of a policy makes another version, on the page of its agent."""

    list_display = ("uuid", page_of("policy"), "agent", "number", "rule_set", "author", "note", "created_at")  # fmt: skip
    list_filter = (ByRuleSet, "created_at")
    list_select_related = ("agent", "author")
    found_by = (("agent", "uuid"),)
    search_help_text = "The id of a version or an agent, in full."
    exclude = ("settings",)
    readonly_fields = (page_of("policy"), json_of("settings"))


@admin.register(KeptWhatIf)
class KeptWhatIfAdmin(EvidenceAdmin):
    """What a person kept of a session's what-ifs; it is forgotten on the session's page."""

    list_display = ("uuid", "name", "session_id", "rule_set", "author", "created_at")
    list_filter = (ByRuleSet, "created_at")
    list_select_related = ("author",)
    found_by = (("session", "uuid"),)
    search_help_text = "The id of a kept what-if or of a session, in full."
    exclude = ("totals",)
    readonly_fields = (json_of("totals"),)


@admin.register(MemoryFile)
class MemoryFileAdmin(EvidenceAdmin):
    list_display = ("uuid", "name", "agent", "team", "size", "changed_at")
    list_filter = ("changed_at",)
    list_select_related = ("agent", "team")
    found_by = (("agent", "uuid"), ("team", "uuid"))
    search_help_text = "The id of a file, an agent or a team, in full."


@admin.register(MemoryNote)
class MemoryNoteAdmin(EvidenceAdmin):
    list_display = ("id", "name", "agent", "session", "turn", "number", "is_mirrored", "created_at")
    list_filter = ("is_mirrored", "created_at")
    list_select_related = ("file__agent", "session")
    found_by = (("file", "uuid"), ("session", "uuid"))
    search_help_text = "The id of a file or a session, in full."
    exclude = ("text",)
    readonly_fields = (text_of("text", str),)

    @admin.display(description="file")
    def name(self, note: MemoryNote) -> str:
        return note.file.name

    @admin.display(description="agent")
    def agent(self, note: MemoryNote) -> str:
        return note.file.agent.name
