"""Did a compaction lose what the user demanded, or what was needed again, and did the flush save it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction_app.engine.diagnose.finding import Finding
from compaction_app.engine.diagnose.history import History
from compaction_app.engine.diagnose.subject import Subject
from compaction_app.engine.retention.losses import Loss


def find(subject: Subject, history: History) -> Iterator[Finding]:
    """One finding of each kind; its line is that of the first compaction it is true of."""
    here = [loss for loss in subject.losses if history.place_of(loss.entry) is not None]
    yield from _constraints(history, [loss for loss in here if "CONSTRAINT_LOST" in loss.codes])
    yield from _identifiers(history, [loss for loss in here if "IDENTIFIER_LOST" in loss.codes])
    yield from _uncovered(history, [loss for loss in here if "FLUSH_DID_NOT_COVER" in loss.codes])


def _constraints(history: History, losses: Sequence[Loss]) -> Iterator[Finding]:
    if not losses:
        return
    count = sum(loss.constraint_count for loss in losses)
    first = losses[0].constraints[0]
    yield Finding(
        "CONSTRAINT_LOST",
        f"{_number(count, 'constraint')} of the user {'stands' if count == 1 else 'stand'} neither in what "
        f"the compaction left nor in a memory file: “{first}”{' and others' if count > 1 else ''}.",
        {
            "constraints": count,
            "compactions": len(losses),
            "first": first,
            "entry": losses[0].entry,
        },
        line=history.signs.line_of(losses[0].entry),
    )


def _identifiers(history: History, losses: Sequence[Loss]) -> Iterator[Finding]:
    if not losses:
        return
    count = sum(loss.used_count for loss in losses)
    text, entry = losses[0].used_again[0]
    yield Finding(
        "IDENTIFIER_LOST",
        f"{_number(count, 'identifier')} left the context in a compaction and "
        f"{'was' if count == 1 else 'were'} needed again later: {text} in entry {entry}"
        f"{' and others' if count > 1 else ''}.",
        {"identifiers": count, "compactions": len(losses), "first": text, "usedInEntry": entry},
        line=history.signs.line_of(losses[0].entry),
    )


def _uncovered(history: History, losses: Sequence[Loss]) -> Iterator[Finding]:
    if not losses:
        return
    weighty, saved = sum(loss.weighty for loss in losses), sum(loss.saved for loss in losses)
    yield Finding(
        "FLUSH_DID_NOT_COVER",
        f"A memory flush ran and wrote, but of {weighty} constraints, decisions, open tasks and changed "
        f"files that then left the context only {saved} {'stands' if saved == 1 else 'stand'} in a memory file.",
        {"left": weighty, "saved": saved, "compactions": len(losses), "entry": losses[0].entry},
        line=history.signs.line_of(losses[0].entry),
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
