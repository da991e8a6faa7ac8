"""The numbers that a list of sessions shows, kept with the session so that no list loads entries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from sessions_app.models import ImportProblem, Session, Window
from sessions_app.rows import columns_of_window
from sessions_app.transcripts.columns import KINDS, MARKS, UNKNOWN
from sessions_app.transcripts.timeline import Timeline, timeline

SPARK_POINTS = 60
FACT_FIELDS = ("facts", "spark", "peak_tokens", "entry_count", "counted", "last_at")
LIVE_FACT_FIELDS = ("facts", "spark", "peak_tokens", "counted")
"""What of a live session is counted; the rest its writers keep up to date."""


def count_facts(session: Session, window: Window) -> None:
    """Count anew what the window holds; ``FACT_FIELDS`` of the session are changed, not saved."""
    columns = columns_of_window(window)
    grown = timeline(columns)
    session.facts = facts(grown, len(columns.leaves()))
    session.facts["lines"] = window.content_lines
    told = {"putAside": window.put_aside, "begunBy": window.reason}
    session.facts |= {name: value for name, value in told.items() if value}
    session.facts["problems"] = ImportProblem.objects.filter(window=window).count()
    session.spark = spark(grown)
    session.peak_tokens = grown.peak
    session.entry_count = session.counted = len(columns)
    session.last_at = _last_time(columns.at_ms)


def facts(grown: Timeline, branches: int) -> dict[str, Any]:
    """Counts and peaks of one branch; none where nothing is known."""
    rows = grown.columns
    billed = int(grown.billed_total.max()) if grown.calls else UNKNOWN
    marks = {name: int((rows.mark == number).sum()) for number, name in enumerate(MARKS) if name}
    return {
        "calls": grown.calls,
        "turns": grown.turns,
        "branches": branches,
        "compactions": len(grown.compactions.place),
        "flushes": int(
            ((rows.mark == MARKS.index("flush")) & (rows.kind == KINDS.index("user"))).sum()
        ),
        "peakBilled": billed if billed != UNKNOWN else None,
        "peakEstimated": int(grown.estimated.max()) if grown.calls else None,
        "billedCalls": int((~grown.is_estimate).sum()),
        "marks": marks,
        "last": int(grown.shown[-1]) if grown.calls else None,
    }


def spark(grown: Timeline) -> list[int]:
    """The curve in at most ``SPARK_POINTS`` points; each is the highest of its stretch."""
    if not grown.calls:
        return []
    stretches = np.array_split(grown.shown, min(SPARK_POINTS, grown.calls))
    return [int(stretch.max()) for stretch in stretches]


def _last_time(at_ms: Any) -> Any:
    known = at_ms[at_ms != UNKNOWN]
    if not len(known):
        return None
    try:
        return datetime.fromtimestamp(int(known.max()) / 1000, UTC)
    except (ValueError, OSError, OverflowError):
        return None
