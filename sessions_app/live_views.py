"""What happens to a session, as it happens, for its page."""

from __future__ import annotations

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from sessions_app import access
from sessions_app.models import Membership, Session
from sessions_app.stream import session_stream
from sessions_app.stream_api import event_stream

LONGEST_NUMBER = 18


@require_safe
async def session_events(request: HttpRequest, uuid: UUID) -> HttpResponseBase:
    """Server-sent events behind number ``after``, or behind the last one that the browser has seen."""
    session = await sync_to_async(_own)(request, uuid)
    user = await request.auser()
    seen = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    is_number = seen.isascii() and seen.isdigit() and len(seen) <= LONGEST_NUMBER
    after = int(seen) if is_number else session.last_event
    return event_stream(session_stream(session, after, lambda: _may_see(user.pk, session.pk)))


def _own(request: HttpRequest, uuid: UUID) -> Session:
    return access.load(Session.objects.only("pk", "last_event"), request.user, uuid)


def _may_see(user: int | None, session: int) -> bool:
    """As for any page: an active user, in the session's team."""
    members = Membership.objects.filter(user=user, user__is_active=True, team__sessions=session)
    return members.exists()
