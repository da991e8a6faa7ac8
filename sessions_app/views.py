"""Pages about what happened: the list of sessions, uploads, entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import F, OrderBy
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from sessions_app import access, reveals, uploads
from sessions_app.batches import FileReport
from sessions_app.downloads import download
from sessions_app.entries import entries_page, entry_view, raw_text
from sessions_app.export import exported, file_name
from sessions_app.folders import CONFIG_NAME, INDEX_NAME
from sessions_app.listing import copies_of, row_of, search_words, searched, with_copies
from sessions_app.models import Job, Session
from sessions_app.recount import UnknownEncoding, request_recount
from sessions_app.tokens.exact import ENCODINGS

PER_PAGE = 50
SETTINGS_NAMES = (CONFIG_NAME, INDEX_NAME)
SORTS = {
    "recent": "imported_at",
    "tokens": "peak_tokens",
    "entries": "entry_count",
    "activity": "last_at",
    "title": "title",
}
"""By what the list can be ordered; a "-" before the name turns its first direction around."""
RISES_FIRST = ("title",)
COLUMNS = (
    {"title": "Session", "sort": "title"},
    {"title": "Growth", "sort": "tokens"},
    {"title": "Fill at the last call", "sort": ""},
    {"title": "Calls", "sort": "entries", "numeric": True},
    {"title": "Flushes", "sort": "", "numeric": True},
    {"title": "Compactions", "sort": "", "numeric": True},
    {"title": "Verdict", "sort": ""},
    {"title": "Last activity", "sort": "activity"},
)


@require_safe
def session_list(request: HttpRequest) -> HttpResponse:
    q = search_words(request.GET.get("q", ""))
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in SORTS else "recent"
    found = searched(access.visible(Session.objects.select_related("agent"), request.user), q)
    found = with_copies(found, q)
    page = Paginator(found.order_by(_order(sort), "-pk"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "nav": "sessions",
        "q": q,
        "sort": sort,
        "columns": [_heading(column, sort) for column in COLUMNS],
        "page": page,
        "rows": [row_of(session, () if q else copies_of(session)) for session in page.object_list],
    }
    if request.headers.get("HX-Target") == "sessions":
        return render(request, "sessions/_list.html", context)
    return render(request, "sessions/list.html", context | _imports(request))


@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    files = request.FILES.getlist("files")
    if not files:
        messages.error(request, "Choose at least one file to import.")
        return redirect("sessions")
    outcome = uploads.receive(access.team_of(request.user), files)
    if isinstance(outcome, Job):
        return redirect("sessions")
    if not outcome:
        messages.info(request, "Nothing in these files could be imported: they name no session.")
    for report in outcome:
        _say(request, report)
    sessions = {session for report in outcome for session in report.sessions}
    if len(sessions) == 1 and not any(report.error for report in outcome):
        return redirect("session", sessions.pop().uuid)
    return redirect("sessions")


@require_safe
def imports(request: HttpRequest) -> HttpResponse:
    """The imports in progress; asks for itself again as long as there are any."""
    context = _imports(request)
    return render(request, "sessions/_imports_poll.html", context)


@require_safe
def entries(request: HttpRequest, uuid: UUID) -> HttpResponse:
    session = access.load(Session.objects.all(), request.user, uuid)
    context = entries_page(session, request.GET) | {"encodings": ENCODINGS}
    is_fragment = request.headers.get("HX-Target") == "entries"
    template = "sessions/_entries.html" if is_fragment else "sessions/entries.html"
    return render(request, template, {"nav": "sessions", "session": session, **context})


@require_safe
def entry(request: HttpRequest, uuid: UUID, seq: int) -> HttpResponse:
    session = access.load(Session.objects.all(), request.user, uuid)
    context = entry_view(session, seq)
    if context["hidden"]:
        context["may_reveal"] = reveals.may_reveal(cast(User, request.user), session)
    return render(
        request, "sessions/entry.html", {"nav": "sessions", "session": session, **context}
    )


@require_safe
def entry_raw(request: HttpRequest, uuid: UUID, seq: int) -> HttpResponse:
    """The entry as a download: never rendered, whatever it holds."""
    session = access.load(Session.objects.all(), request.user, uuid)
    answer = HttpResponse(raw_text(session, seq), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="entry-{seq}.json"'
    return answer


@require_safe
def export(request: HttpRequest, uuid: UUID) -> StreamingHttpResponse:
    """The session as a file that imports again."""
    session = access.load(Session.objects.all(), request.user, uuid)
    return download(request, exported(session), file_name(session), "application/x-ndjson")


@require_POST
def encoding(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Count the session's tokens by another vocabulary."""
    session = access.load(Session.objects.select_related("team"), request.user, uuid)
    try:
        job = request_recount(session, request.POST.get("encoding", ""))
    except UnknownEncoding as error:
        messages.error(request, str(error))
    else:
        if job is not None:
            messages.info(request, "A worker is counting; reload the page in a moment.")
    return redirect("entries", session.uuid)


def _rises(sort: str) -> bool:
    return (sort.removeprefix("-") in RISES_FIRST) != sort.startswith("-")


def _order(sort: str) -> OrderBy:
    """What is unknown stands last, whichever way round."""
    column = F(SORTS[sort.removeprefix("-")])
    return column.asc(nulls_last=True) if _rises(sort) else column.desc(nulls_last=True)


def _heading(column: Mapping[str, Any], sort: str) -> dict[str, Any]:
    """A column with how it is sorted now, and by what a click on it sorts."""
    name = column["sort"]
    if not name or name != sort.removeprefix("-"):
        return {**column, "click": name, "sorted": ""}
    turned = name if sort.startswith("-") else f"-{name}"
    return {**column, "click": turned, "sorted": "ascending" if _rises(sort) else "descending"}


def _imports(request: HttpRequest) -> dict[str, Any]:
    recent = timezone.now() - timedelta(minutes=10)
    found = access.visible(Job.objects.filter(kind="import", created_at__gte=recent), request.user)
    jobs = list(found.order_by("-created_at")[:10])
    return {"imports": jobs, "has_imports": any(job.state in ("queued", "running") for job in jobs)}


def _say(request: HttpRequest, report: FileReport) -> None:
    if report.status == "refused":
        messages.error(request, f"{report.path} was not imported. {report.error}")
    elif report.status == "unchanged":
        messages.info(request, f"{report.path} was imported before and has not changed.")
    elif report.path.endswith(SETTINGS_NAMES) and report.sessions:
        reached = len(report.sessions)
        words = f"{report.path} now holds for {reached} session{'' if reached == 1 else 's'}."
        messages.success(request, words)
    else:
        messages.success(request, f"{report.path} was {report.status}.")
