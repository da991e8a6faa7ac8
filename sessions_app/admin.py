"""The admin of this floor: what happened, who may come in, what workers do.

Evidence is read-only. Teams and memberships can be changed, but not taken away with all they own;
jobs and tokens change by the same functions as on their pages, each written to the admin's log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from sessions_app import api_tokens, jobs, tombstones
from sessions_app.admin_lists import (
    ChosenFilter,
    EvidenceAdmin,
    RowsAdmin,
    among,
    hex_of,
    json_of,
    text_of,
)
from sessions_app.entries import payload_text
from sessions_app.hidden_secrets import showing
from sessions_app.importers.formats import TITLES
from sessions_app.importers.openclaw import ENTRY_TYPES
from sessions_app.masking import mask_beginning
from sessions_app.models import (
    Agent,
    ApiToken,
    Entry,
    ImportProblem,
    Invitation,
    Job,
    Membership,
    Reveal,
    Session,
    Team,
    Tombstone,
)
from sessions_app.teams import is_last_owner
from sessions_app.transcripts.columns import MARKS

if TYPE_CHECKING:
    _Form = forms.ModelForm[Membership]
else:
    _Form = forms.ModelForm

LOG_LINES: Final = 200
ROLES: Final = (
    "user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary",
)  # fmt: skip
PROBLEM_KINDS: Final = (
    "FILE_BAD_ENCODING", "FILE_BAD_LINE", "FILE_BROKEN_PARENT", "FILE_DUPLICATE_BOOTSTRAP",
    "FILE_DUPLICATE_ID", "FILE_GIANT", "FILE_GIANT_LINE", "FILE_JOINED_RECORDS", "FILE_MISSING_ID",
    "FILE_NO_HEADER", "FILE_ORPHAN_CALL", "FILE_ORPHAN_RESULT", "FILE_SECOND_HEADER", "FILE_TRUNCATED_TAIL",
)  # fmt: skip
"""What importers write of a file; ``importers`` say what each means."""


def _text_of_bytes(raw: bytes | memoryview) -> str:
    return bytes(raw).decode("utf-8", "replace")


class OfASession(EvidenceAdmin):
    """Rows that are many, and narrowed down only within a session: a filter over all would read all."""

    narrowed: tuple[type[admin.SimpleListFilter], ...] = ()
    search_help_text = "The id of a session or of one of its windows, in full; then filters show."
    found_by = (("window", "session__uuid"), ("window", "uuid"))
    list_select_related = ("window__session",)

    def get_list_filter(self, request: HttpRequest) -> Any:
        return self.narrowed if request.GET.get("q") else ()

    @admin.display(description="session")
    def session_id(self, row: Any) -> str:
        return str(row.window.session.uuid)


@admin.register(Entry)
class EntryAdmin(OfASession):
    list_display = ("id", "session_id", "seq", "entry_id", "type", "role", "tokens")
    narrowed = (among("type", sorted(ENTRY_TYPES)), among("role", ROLES), among("mark", MARKS[1:]))
    exclude = ("payload", "digest", "link", "excerpt")
    raw_id_fields = ("window",)
    readonly_fields = ("begins", text_of("payload", payload_text), hex_of("link"))

    def get_list_display(self, request: HttpRequest) -> Any:
        """Beginnings of texts only within a session: what is a secret there is known then."""
        own = super().get_list_display(request)
        return (*own, "begins") if request.GET.get("q") else own

    @admin.display(description="begins")
    def begins(self, row: Entry) -> str:
        showing(row.window.session_id)
        return mask_beginning(row.excerpt)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the payloads: the page of one entry loads its own."""
        return super().get_queryset(request).defer("payload", "digest", "window__header")


@admin.register(ImportProblem)
class ImportProblemAdmin(OfASession):
    list_display = ("id", "session_id", "line", "kind", "message")
    narrowed = (among("kind", PROBLEM_KINDS),)
    exclude = ("raw",)
    readonly_fields = (text_of("raw", _text_of_bytes),)


@admin.register(Session)
class SessionAdmin(EvidenceAdmin):
    list_display = ("uuid", "title", "team", "agent", "source", "model", "entry_count", "peak_tokens", "is_live", "last_at")  # fmt: skip
    list_filter = (among("source", TITLES.items()), "is_live", "imported_at")
    list_select_related = ("team", "agent")
    found_by = (("team", "uuid"), ("agent", "uuid"))
    search_help_text = "The id of a session, an agent or a team, in full."
    dated = "imported_at"
    exclude = ("index_entry", "facts", "spark", "summary", "guard", "run", "queued")
    readonly_fields = (
        "chains",
        *(json_of(name) for name in exclude if name != "spark"),
    )

    @admin.display(description="ends of its hash chains")
    def chains(self, session: Session) -> str:
        """As a tombstone would keep them."""
        ends = tombstones.chain_ends(session)
        shown = json.dumps(ends, indent=1)
        return format_html("<pre>{}\n{}</pre>", tombstones.digest_of(ends).hex(), shown)


@admin.register(Tombstone)
class TombstoneAdmin(EvidenceAdmin):
    """What is left of sessions that were deleted: when, by whom, and their last digest."""

    list_display = ("session_uuid", "team_uuid", "source", "is_live", "entries", "last_digest", "deleted_at", "deleted_by")  # fmt: skip
    list_filter = ("is_live", "deleted_at")
    found_by_own = ("session_uuid", "team_uuid")
    search_help_text = "The id of a session or a team, in full."
    exclude = ("chains", "digest", "link")
    readonly_fields = ("last_digest", json_of("chains"), "own_link")

    @admin.display(description="last digest")
    def last_digest(self, stone: Tombstone) -> str:
        return bytes(stone.digest).hex()

    @admin.display(description="link among the tombstones")
    def own_link(self, stone: Tombstone) -> str:
        return bytes(stone.link).hex()


@admin.register(Agent)
class AgentAdmin(EvidenceAdmin):
    list_display = ("uuid", "name", "team", "home", "is_live", "provider", "model", "created_at")
    list_filter = ("is_live", "flush_by", "created_at")
    list_select_related = ("team",)
    found_by = (("team", "uuid"),)
    search_help_text = "The id of an agent or a team, in full."
    exclude = ("config_text", "system_prompt", "windows", "tools", "skills")
    readonly_fields = (
        text_of("config_text", str, "openclaw.json"),
        text_of("system_prompt", str),
        *(json_of(name) for name in ("windows", "tools", "skills")),
    )


class JobKindFilter(ChosenFilter):
    """By what is to be done; the floor above has kinds of its own by the time that this is asked."""

    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        self.codes = tuple((name, kind.title) for name, kind in jobs.KINDS.items())
        return list(self.codes)


@admin.register(Job)
class JobAdmin(EvidenceAdmin):
    """Work, with the last lines that it wrote about itself."""

    list_display = ("uuid", "kind", "state", "title", "team", "done", "total", "attempts", "created_at")  # fmt: skip
    list_filter = ("state", JobKindFilter)
    list_select_related = ("team",)
    found_by = (("session", "uuid"), ("team", "uuid"))
    search_help_text = "The id of a job, a session or a team, in full."
    exclude = ("arguments", "result", "holder")
    readonly_fields = (json_of("arguments"), json_of("result"), "log")
    actions = ("cancel", "retry")

    @admin.display(description="log")
    def log(self, job: Job) -> str:
        """Its newest lines, the oldest of them first."""
        lines = reversed(job.lines.order_by("-pk")[:LOG_LINES])
        rows = ((f"{line.at:%Y-%m-%d %H:%M:%S}", line.level, line.text) for line in lines)
        return format_html("<pre>{}</pre>", "\n".join(" ".join(row) for row in rows))

    @admin.action(description="Cancel the selected jobs", permissions=["work"])
    def cancel(self, request: HttpRequest, chosen: QuerySet[Job]) -> None:
        for job in chosen:
            jobs.cancel(job)
            self.log_change(request, job, "Cancelled.")

    @admin.action(description="Do the selected jobs again", permissions=["work"])
    def retry(self, request: HttpRequest, chosen: QuerySet[Job]) -> None:
        for job in chosen:
            if jobs.retry(job):
                self.log_change(request, job, "Asked for again.")

    def has_work_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_job")


@admin.register(ApiToken)
class ApiTokenAdmin(EvidenceAdmin):
    """Tokens by their first characters. They are made on the page of tokens, which shows each once."""

    list_display = ("uuid", "name", "shown", "team", "user", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")  # fmt: skip
    list_filter = ("scope", "created_at")
    list_select_related = ("team", "user")
    found_by = (("team", "uuid"),)
    search_help_text = "The id of a token or a team, in full."
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        for token in chosen.filter(revoked_at=None):
            api_tokens.revoke(token)
            self.log_change(request, token, "Revoked.")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_apitoken")


@admin.register(Team)
class TeamAdmin(RowsAdmin):
    """Teams by name. None is deleted here: everything that it owns would go with it."""

    list_display = ("name", "uuid", "created_at")
    list_filter = ("created_at",)
    search_help_text = "The id of a team, in full."
    fields = ("uuid", "name", "created_at")
    readonly_fields = ("uuid", "created_at")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MembershipForm(_Form):
    """A place in a team; the last owner keeps theirs, as on the page of the team."""

    class Meta:
        model = Membership
        fields = ("team", "user", "role")

    def clean_role(self) -> str:
        role = str(self.cleaned_data["role"])
        if self.instance.pk and role != Membership.Role.OWNER and is_last_owner(self.instance):
            raise forms.ValidationError("A team needs an owner: make somebody else one first.")
        return role


@admin.register(Membership)
class MembershipAdmin(RowsAdmin):
    """Who is in which team. A place is given and gets another role; teams take members out."""

    form = MembershipForm
    list_display = ("id", "team", "user", "role")
    list_filter = ("role",)
    list_select_related = ("team", "user")
    raw_id_fields = ("team", "user")
    found_by = (("team", "uuid"),)
    search_help_text = "The id of a team, in full."

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("team", "user") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Reveal)
class RevealAdmin(EvidenceAdmin):
    """Who was shown what is hidden from others."""

    list_display = ("uuid", "at", "team", "by", "what")
    list_filter = ("at",)
    list_select_related = ("team",)
    found_by = (("team", "uuid"), ("session", "uuid"))
    search_help_text = "The id of a team or a session, in full."
    raw_id_fields = ("session", "user")


@admin.register(Invitation)
class InvitationAdmin(EvidenceAdmin):
    """Invitations without their links, which are shown once and kept as digests."""

    list_display = ("uuid", "team", "role", "note", "invited_by", "created_at", "expires_at", "used_at")  # fmt: skip
    list_filter = ("role", "created_at")
    list_select_related = ("team", "invited_by")
    found_by = (("team", "uuid"),)
    search_help_text = "The id of an invitation or a team, in full."
    exclude = ("digest",)
