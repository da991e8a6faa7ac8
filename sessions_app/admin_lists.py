"""What the lists of the admin have in common: quick with a million rows, and nothing there is changed.

No list counts its table, sorts by what has no index, or asks for all values that a column has: the
choices of a filter stand in the code. Ids are looked up, never searched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html

from sessions_app.hidden_secrets import showing_row
from sessions_app.masking import mask

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Any]
    _Paginator = Paginator[Any]
else:
    _Admin = admin.ModelAdmin
    _Paginator = Paginator

MOST_COUNTED: Final = 10_000
MOST_CHARS: Final = 100_000
"""A text is shown as far as this; all of it is on the pages of its session."""


class ShortCount(_Paginator):
    """Counts no further than people turn pages: a table of a million rows is never counted."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[:MOST_COUNTED].count())


class RowsAdmin(_Admin):
    """A list that stays quick, found by ids in full.

    ``found_by`` are the ways to a row besides its own uuid: (a foreign key of the model, where its
    target has the id), ``found_by_own`` columns of its own that hold ids. ``dated`` is the column of an index of (date, id), where there is one.
    """

    found_by: tuple[tuple[str, str], ...] = ()
    found_by_own: tuple[str, ...] = ()
    dated = ""
    paginator = ShortCount
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    sortable_by = ()
    search_fields = ("pk",)  # shows the box; ``get_search_results`` reads it

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        found = super().get_object(request, object_id, from_field)
        showing_row(found)
        return found

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Newest first; by date only within a stretch of dates, where its index serves both."""
        is_stretch = self.dated and any(name.startswith(f"{self.dated}__") for name in request.GET)
        return (f"-{self.dated}", "-id") if is_stretch else ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The ids of what is related are looked up first, so that each condition has its index."""
        if not search_term:
            return queryset, False
        try:
            wanted = UUID(search_term)
        except ValueError:
            return queryset.none(), False
        found = Q(pk__in=())
        if any(field.name == "uuid" for field in self.model._meta.fields):
            found |= Q(uuid=wanted)
        for name in self.found_by_own:
            found |= Q(**{name: wanted})
        for name, lookup in self.found_by:
            related: Any = self.model._meta.get_field(name).related_model
            ids = related._default_manager.filter(**{lookup: wanted}).values_list("pk", flat=True)
            found |= Q(**{f"{name}__in": list(ids)})
        return queryset.filter(found), False


class EvidenceAdmin(RowsAdmin):
    """Rows to look at, never to add, change or delete here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ChosenFilter(admin.SimpleListFilter):
    """One value of a column, chosen from those that the code knows; another can stand in the address."""

    template = "admin/chosen_filter.html"
    codes: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str], ...] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return self.codes

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if not value:
            return queryset
        return queryset.filter(**{str(self.parameter_name): value})

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Options of the form; ``others`` are the conditions that stay as they are."""
        given = changelist.filter_params.items()
        self.others = tuple((k, v) for k, vs in given for v in vs if k != self.parameter_name)
        chosen = self.value() or ""
        known = [("", "any"), *self.codes]
        if all(chosen != code for code, _ in known):
            known.append((chosen, chosen))
        for code, title in known:
            yield {"value": code, "display": title, "selected": code == chosen}


def among(
    column: str, codes: Iterable[tuple[str, str]] | Iterable[str], title: str = ""
) -> type[ChosenFilter]:
    """A filter of a column by values known beforehand: codes, or pairs of code and title."""
    pairs = tuple((code, code) if isinstance(code, str) else code for code in codes)
    values = {"title": title or column.replace("_", " "), "parameter_name": column, "codes": pairs}
    return type(f"{column.title()}Filter", (ChosenFilter,), values)


def text_of(column: str, read: Callable[[Any], str], title: str = "") -> Any:
    """A field of a row's page: a long text, as far as it is shown."""

    @admin.display(description=title or column.replace("_", " "))
    def shown(row: Model) -> str:
        text = mask(read(getattr(row, column)))
        rest = len(text) - MOST_CHARS
        more = f"\n… {rest:,} more characters" if rest > 0 else ""
        return format_html("<pre>{}{}</pre>", text[:MOST_CHARS], more)

    return shown


def json_of(column: str) -> Any:
    """A field of a row's page: a JSON value, laid out."""
    return text_of(column, lambda value: json.dumps(value, indent=1, ensure_ascii=True))


def hex_of(column: str, title: str = "link of the hash chain") -> Any:
    """A field of a row's page: bytes as hexadecimal digits."""

    @admin.display(description=title)
    def shown(row: Model) -> str:
        value = getattr(row, column)
        return bytes(value).hex() if value else "not worked out yet"

    return shown


def page_of(name: str, title: str = "page") -> Any:
    """A link to the page of a row outside of the admin; ``name`` is that of its address."""

    @admin.display(description=title)
    def link(row: Any) -> str:
        return format_html('<a href="{}">open</a>', reverse(name, args=[row.uuid]))

    return link
