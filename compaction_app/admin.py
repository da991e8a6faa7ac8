"""The admin of this floor: what was decided and done, to look at, never to change."""

from __future__ import annotations

from typing import get_args

from django.contrib import admin

from compaction_app.compaction_asks import MANUAL, TRIGGERS
from compaction_app.decision_codes import OUTCOMES, REASONS, RULES
from compaction_app.engine.compaction.run import RunOutcome
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.flush_jobs import DUE
from compaction_app.models import (
    CompactionRecord,
    Decision,
    FlushRecord,
    MemoryFile,
    MemoryNote,
    PolicyVersion,
)
from sessions_app.admin_lists import EvidenceAdmin, among, json_of, page_of, text_of

ByReason = among("reason", REASONS)
ByRuleSet = among("rule_set", RULE_SETS)


@admin.register(Decision)
class DecisionAdmin(EvidenceAdmin):
    """A list that stays quick with a million rows; every filter has an index of its own."""

    list_display = ("uuid", page_of("decision"), "session_id", "turn", "rule", "fired", "outcome", "reason", "rule_set", "reading", "created_at")  # fmt: skip
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
    readonly_fields = (page_of("decision"), *(json_of(name) for name in exclude))


class RecordAdmin(EvidenceAdmin):
    """What compactions and flushes have in common."""

    list_select_related = ("team", "session")
    found_by = (("session", "uuid"), ("job", "uuid"), ("team", "uuid"))
    search_help_text = "The id of a record, a session, a job or a team, in full."


@admin.register(CompactionRecord)
class CompactionRecordAdmin(RecordAdmin):
    list_display = ("uuid", page_of("compaction-record"), "session", "team", "cycle", "trigger", "outcome", "reason", "tokens_before", "tokens_after", "summariser", "finished_at")  # fmt: skip
    list_filter = (
        among("trigger", TRIGGERS),
        among("outcome", get_args(RunOutcome)),
        ByReason,
        ByRuleSet,
        "finished_at",
    )
    exclude = ("calls", "record")
    readonly_fields = (page_of("compaction-record"), *(json_of(name) for name in exclude))


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
    exclude = ("calls", "dialogue")
    readonly_fields = (page_of("flush-record"), *(json_of(name) for name in exclude))


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
