"""The verdict: what is wrong with a configuration, a session's index entry and its recording.

The state at rest is judged, like with like: billed with billed, estimate with estimate. Every figure
comes from the module of its rule. A finding that rests on settings is made only where they are known;
one from a configuration alone says that no session was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compaction_app.engine.diagnose import (
    compactions,
    dead_ends,
    flushes,
    losses,
    overhead,
    pruning,
    reserve,
    results,
    summaries,
    usage,
    windows,
)
from compaction_app.engine.diagnose.finding import SEVERITIES, Finding, Severity, by_consequence
from compaction_app.engine.diagnose.history import history_of
from compaction_app.engine.diagnose.subject import Subject

__all__ = ["SEVERITIES", "Finding", "Severity", "Subject", "by_consequence", "findings"]

NO_SESSION = "No session was looked at."


def findings(subject: Subject) -> list[Finding]:
    """What there is to say, the gravest consequence first."""
    found = by_consequence(_all(subject))
    if subject.grown is not None or subject.entry is not None:
        return found
    return [
        each
        if NO_SESSION in each.consequence
        else replace(each, consequence=f"{each.consequence} {NO_SESSION}")
        for each in found
    ]


def _all(subject: Subject) -> Iterator[Finding]:
    history = history_of(subject)
    yield from windows.find(subject)
    yield from reserve.find(subject)
    yield from flushes.find(subject, history)
    yield from usage.find(subject)
    yield from overhead.find(subject)
    yield from pruning.find(subject, history)
    if history is not None:
        yield from dead_ends.find(subject, history)
        yield from summaries.find(subject, history)
        yield from losses.find(subject, history)
        yield from compactions.find(subject, history)
        yield from results.find(subject, history)
