"""The numbers of live sessions that the list shows, brought up to date behind their writers.

Counting costs time that grows with a session, so it is left to a worker, and the longer a session is
the more must have come before it is counted again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from sessions_app import signals
from sessions_app.facts import LIVE_FACT_FIELDS, count_facts
from sessions_app.models import Session

QUIET = timedelta(seconds=10)
"""A session that nothing has come to for so long is counted to its end."""

NEWS_SHARE = 0.005
AT_ONCE_SECONDS = 20.0


def count_live(seconds: float = AT_ONCE_SECONDS) -> int:
    """Count live sessions that have grown, for at most about ``seconds``; how many were counted."""
    end, done = time.monotonic() + seconds, 0
    for session in _grown():
        count_session(session)
        done += 1
        if time.monotonic() > end:
            break
    return done


def count_session(session: Session) -> None:
    """Count one session, and tell the floor above."""
    window = session.windows.order_by("-sequence").first()
    if window is None:
        return
    count_facts(session, window)
    session.save(update_fields=LIVE_FACT_FIELDS)
    signals.session_changed.send(Session, session=session)


def _grown() -> Iterator[Session]:
    """Live sessions with enough news, those that were counted longest ago by size first."""
    quiet = timezone.now() - QUIET
    behind = Session.objects.filter(is_live=True).exclude(counted=F("entry_count"))
    for session in behind.select_related("agent").order_by("entry_count").iterator(chunk_size=50):
        news = session.entry_count - session.counted
        is_quiet = session.last_at is None or session.last_at < quiet
        if is_quiet or news >= session.entry_count * NEWS_SHARE:
            yield session
