"""The page of a compaction made again: the recorded summary and the new one, and what each loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.chosen import choices
from compaction_app.engine.retention.anchors import TITLES
from compaction_app.engine.retention.cycles import Instead
from compaction_app.engine.retention.retention import UPPER_BOUND
from compaction_app.engine.retention.side_by_side import side_by_side
from compaction_app.lost import cycle_with, cycles_for, index_of
from compaction_app.lost_page import item_of
from compaction_app.resummaries import LARGEST_KEEP
from sessions_app.entries import sendable, window_of
from sessions_app.models import Job, Session

LISTED: Final = 100
SHOWN_SUMMARY: Final = 40_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a form asks for; ``problem`` says what is wrong with it, "" for nothing."""

    number: int
    summariser: str
    keep: int | None
    problem: str = ""


def wanted(session: Session, values: Mapping[str, str]) -> Wanted:
    """What was typed, or what is wrong with it."""
    number, keep_text = values.get("compaction", ""), values.get("keep", "").strip()
    name = values.get("summariser", "")
    at = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    keep: int | None = None
    if keep_text:
        is_number = keep_text.isascii() and keep_text.isdigit() and len(keep_text) < 10
        keep = int(keep_text) if is_number else 0
        if not 1 <= keep <= LARGEST_KEEP:
            text = f"keepRecentTokens: a whole number of tokens from 1 to {LARGEST_KEEP:,}."
            return Wanted(at, name, None, text)
    if not any(cycle.number == at for cycle in cycles_for(window_of(session))):
        return Wanted(at, name, keep, "The session has no such compaction.")
    if name not in choices(session.team):
        return Wanted(at, name, keep, f"There is no summariser {name[:60]!r}.")
    return Wanted(at, name, keep)


def again_context(session: Session, job: Job) -> dict[str, Any]:
    """The job, and where it is done both summaries side by side."""
    number = int(job.arguments["compaction"])
    context: dict[str, Any] = {"job": job, "number": number, "keep": job.arguments.get("keep")}
    window = window_of(session)
    recorded = next((c for c in cycles_for(window) if c.number == number), None)
    if job.state != Job.State.SUCCEEDED or recorded is None:
        return context
    text = str(job.result["text"])
    other = cycle_with(window, Instead(number, text, int(job.result["kept"])))
    if other is None:
        return context
    both = side_by_side(recorded.retention, other.retention)
    lists = (
        ("Lost by the recorded summary alone", both.only_recorded),
        ("Lost by the new summary alone", both.only_again),
        ("Lost by both", both.both),
    )
    return context | {
        "recorded": recorded,
        "other": other,
        "upper_bound": UPPER_BOUND,
        "kinds": [(TITLES[kind], left, right) for kind, left, right in both.kinds],
        "lists": [
            (title, len(fates), [item_of(session.uuid, f) for f in fates[:LISTED]])
            for title, fates in lists
        ],
        "recorded_text": sendable(index_of(window).summaries.get(recorded.entry, ""))[
            :SHOWN_SUMMARY
        ],
        "new_text": sendable(text)[:SHOWN_SUMMARY],
        "cost": job.result.get("cost"),
        "calls": job.result.get("calls", ()),
    }
