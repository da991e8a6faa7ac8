"""Decisions in the admin: to look at, never to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest
from django.utils.functional import cached_property

from compaction_app.models import Decision

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Decision]
    _Paginator = Paginator[Any]
else:
    _Admin = admin.ModelAdmin
    _Paginator = Paginator

MOST_COUNTED = 10_000


class ShortCount(_Paginator):
    """Counts no further than people turn pages: a table of a million rows is never counted."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.values("pk")[:MOST_COUNTED].count())


@admin.register(Decision)
class DecisionAdmin(_Admin):
    """A list that stays quick with a million rows: no count of all of them, no list of all values."""

    list_display = ("uuid", "session_id", "turn", "rule", "fired", "outcome", "reason", "rule_set", "reading", "created_at")  # fmt: skip
    list_filter = ("reading", "fired")
    search_fields = ("uuid",)
    search_help_text = "The id of a decision or of a session, in full."
    paginator = ShortCount
    show_full_result_count = False
    ordering = ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Ids are looked up, not searched; anything that is no id finds nothing."""
        if not search_term:
            return queryset, False
        try:
            wanted = UUID(search_term)
        except ValueError:
            return queryset.none(), False
        return queryset.filter(Q(uuid=wanted) | Q(session__uuid=wanted)), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
