"""Downloads of a session: its chart, its events, its report. The address of a what-if is understood."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction_app.exports import as_csv, as_json, chart_picture, event_rows, report_page
from compaction_app.forms import Query, read_query
from compaction_app.runs import Situation, situation_of
from compaction_app.session_page import chart_context, details_context
from sessions_app import access
from sessions_app.models import Session


@require_safe
def chart(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The growth chart as SVG."""
    situation, query = _asked(request, uuid)
    drawn = chart_context(situation, query)["chart"]
    return _file(chart_picture(drawn, situation.session.title), "image/svg+xml", "chart.svg")


@require_safe
def events(request: HttpRequest, uuid: UUID, kind: str) -> HttpResponse:
    """All events, recorded and simulated, as CSV or JSON."""
    situation, query = _asked(request, uuid)
    rows = event_rows(details_context(situation, replace(query, all_events=True))["events"])
    if kind == "csv":
        return _file(as_csv(rows), "text/csv", "events.csv")
    return _file(as_json(rows), "application/json", "events.json")


@require_safe
def report(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The report as one HTML file; ``texts=1`` adds the beginnings of messages."""
    situation, query = _asked(request, uuid)
    with_texts = request.GET.get("texts") == "1"
    page = report_page(situation, replace(query, all_events=True), with_texts=with_texts)
    return _file(page, "text/html", "report.html")


def _asked(request: HttpRequest, uuid: UUID) -> tuple[Situation, Query]:
    found = access.load(Session.objects.select_related("agent"), request.user, uuid)
    situation = situation_of(found)
    return situation, read_query(request.GET.dict(), situation)


def _file(text: str, media_type: str, name: str) -> HttpResponse:
    """A download: never shown as a page of this site, whatever it holds."""
    data = text.encode("utf-8", "replace")
    answer = HttpResponse(data, content_type=f"{media_type}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
