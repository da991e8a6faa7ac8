"""The decisions of one session, filtered by kind, outcome and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.paginator import Paginator
from django.db.models import Count

from compaction_app.decisions import decision_of
from compaction_app.models import Decision as Row
from compaction_app.stages import Comparison, comparison_of, title_of
from sessions_app.models import Session

PER_PAGE: Final = 100
FILTERS: Final = ("stage", "outcome", "reason", "reading")


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list."""

    row: Row

    @property
    def title(self) -> str:
        return title_of(self.row.stage)

    @property
    def comparison(self) -> Comparison | None:
        return comparison_of(decision_of(self.row))


def list_context(session: Session, values: Mapping[str, str]) -> dict[str, Any]:
    """A page of the list with its filters; each filter counts what the others leave."""
    given = {name: values.get(name, "").replace("\x00", "") for name in FILTERS}
    chosen = {name: value for name, value in given.items() if value}
    fired = {"1": True, "0": False}.get(values.get("fired", ""))
    groups: list[Any] = list(
        Row.objects.filter(session=session)
        .values("stage", "outcome", "reason", "reading", "fired")
        .annotate(rows=Count("pk"))
        .order_by()
    )
    found = Row.objects.filter(session=session, **chosen)
    if fired is not None:
        found = found.filter(fired=fired)
    page = Paginator(found.order_by("reading", "turn", "id"), PER_PAGE).get_page(values.get("page"))
    return {
        "page": page,
        "rows": [Listed(row) for row in page.object_list],
        "filters": [(name, list(_options(groups, name, chosen, fired))) for name in FILTERS],
        "chosen": chosen,
        "fired": values.get("fired", "") if fired is not None else "",
        "total": sum(group["rows"] for group in groups),
    }


def _options(
    groups: list[Any], name: str, chosen: Mapping[str, str], fired: bool | None
) -> Iterator[tuple[str, int]]:
    counts: dict[str, int] = {}
    for group in groups:
        others = all(group[other] == value for other, value in chosen.items() if other != name)
        if others and (fired is None or group["fired"] == fired):
            counts[group[name]] = counts.get(group[name], 0) + group["rows"]
    yield from sorted(counts.items(), key=lambda option: (-option[1], option[0]))
