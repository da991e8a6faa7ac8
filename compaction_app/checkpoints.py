"""Checkpoints of decisions: made as they are stored, kept when they are dropped, compared by ``verify``."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Any, Final

from django.db import models, transaction
from django.utils import timezone

from compaction_app.evidence_models import ROW_DIGEST_BYTES, Backfill, DecisionCheckpoint
from compaction_app.exact_json import exact_json
from compaction_app.models import Decision
from sessions_app.models import Session

LINK_BYTES: Final = 32
BACKFILL_ROWS: Final = 500
BEGINNING: Final = blake2b(b"contextlab decisions 1", digest_size=LINK_BYTES).digest()
_COVERED: Final = (
    "reading", "turn", "run", "attempt", "call", "stage", "rule", "fired", "outcome", "reason", "rule_set",
    "inputs", "steps", "entries", "policy", "duration_us",
)  # fmt: skip


def digest_of(row: Decision) -> bytes:
    """The digest of everything that a decision's row says."""
    said = [getattr(row, name) for name in _COVERED]
    text = exact_json([row.uuid.hex, row.window_id, row.created_at.isoformat(), *said])
    return blake2b(text.encode(), digest_size=ROW_DIGEST_BYTES).digest()


def link_of(before: bytes, first: int, last: int, rows: bytes) -> bytes:
    """The link of a checkpoint behind the one whose link is ``before``."""
    place = f"{first} {last} ".encode()
    return blake2b(before + place + rows, digest_size=LINK_BYTES).digest()


def cover(session: int, rows: Sequence[Decision]) -> None:
    """A checkpoint for decisions that were stored just now, in this transaction."""
    if not rows:
        return
    found = DecisionCheckpoint.objects.filter(session=session).order_by("-number")
    number, before = found.values_list("number", "link").first() or (0, BEGINNING)
    digests = b"".join(map(digest_of, rows))
    first, last = rows[0].pk, rows[-1].pk
    DecisionCheckpoint.objects.create(
        session_id=session,
        number=number + 1,
        first=first,
        last=last,
        rows=digests,
        link=link_of(bytes(before), first, last, digests),
    )


def drop(rows: models.QuerySet[Decision]) -> int:
    """Delete decisions, and say so in their checkpoints; how many there were."""
    with transaction.atomic():
        keys = list(rows.order_by("session", "pk").values_list("session", "pk"))
        for session, found in groupby(keys, key=lambda pair: pair[0]):
            _note_dropped(session, [key for _, key in found])
        return Decision.objects.filter(pk__in=[key for _, key in keys]).delete()[0]


def _note_dropped(session: int, keys: Sequence[int]) -> None:
    """``keys`` ascend. Ranges of one session's checkpoints never overlap."""
    found = DecisionCheckpoint.objects.filter(session=session, last__gte=keys[0])
    marks = list(found.filter(first__lte=keys[-1]).order_by("last").defer("rows"))
    lasts = [mark.last for mark in marks]
    places = ((key, bisect_left(lasts, key)) for key in keys)
    covered = (n for key, n in places if n < len(marks) and marks[n].first <= key)
    changed = []
    for place, number in Counter(covered).items():
        marks[place].dropped += number
        marks[place].dropped_at = timezone.now()
        changed.append(marks[place])
    DecisionCheckpoint.objects.bulk_update(changed, ["dropped", "dropped_at"], batch_size=200)


def backfill_step() -> int:
    """Cover the next decisions that are older than checkpoints; how many were looked at."""
    with transaction.atomic():
        mark = Backfill.objects.select_for_update().order_by("pk").first()
        if mark is None or mark.done >= mark.until:
            return 0
        waiting = Decision.objects.filter(pk__gt=mark.done, pk__lte=mark.until).order_by("pk")
        rows = list(waiting[:BACKFILL_ROWS])
        for session, found in groupby(
            sorted(rows, key=lambda row: (row.session_id, row.pk)), key=lambda row: row.session_id
        ):
            cover(session, list(found))
        mark.done = rows[-1].pk if len(rows) == BACKFILL_ROWS else mark.until
        mark.save(update_fields=["done"])
        return len(rows)


def waiting() -> tuple[int, int]:
    """The keys (from, to) of decisions that may still be without a checkpoint; from > to when none."""
    mark = Backfill.objects.order_by("pk").first()
    return (mark.done + 1, mark.until) if mark is not None else (1, 0)


def checkpoint_end(session: Session) -> dict[str, Any]:
    """The end of a session's chain of checkpoints, for its tombstone; nothing without decisions."""
    last = DecisionCheckpoint.objects.filter(session=session).order_by("-number").first()
    if last is None:
        return {}
    return {"decisions": {"checkpoints": last.number, "link": bytes(last.link).hex()}}


def broken(session: int) -> Iterator[str]:
    """The first thing that is wrong with the checkpoints of a session or the decisions they cover."""
    before = BEGINNING
    marks = DecisionCheckpoint.objects.filter(session=session).order_by("number")
    for number, mark in enumerate(marks.iterator(chunk_size=500), start=1):
        made = link_of(before, mark.first, mark.last, bytes(mark.rows))
        if mark.number != number or made != bytes(mark.link):
            yield f"checkpoint {mark.number}: it was changed, or one before it is gone"
            return
        before = made
    try:
        yield from _broken_rows(session)
    except ValueError:  # what stands there is no JSON any more
        yield f"{_unreadable(session)}: it cannot be read"


def _broken_rows(session: int) -> Iterator[str]:
    """Walks decisions and checkpoints beside each other, both in the order of keys."""
    lowest, highest = waiting()
    marks = DecisionCheckpoint.objects.filter(session=session).order_by("last")
    rest = marks.iterator(chunk_size=200)
    mark = next(rest, None)
    left: list[bytes] = _digests(mark)
    missing = 0
    rows = Decision.objects.filter(session=session).order_by("pk").iterator(chunk_size=200)
    for row in rows:
        while mark is not None and mark.last < row.pk:
            missing += len(left)
            if missing != mark.dropped:
                yield _lost(mark, missing)
                return
            mark, missing = next(rest, None), 0
            left = _digests(mark)
        if mark is None or row.pk < mark.first:
            if lowest <= row.pk <= highest:
                continue
            yield f"decision {row.uuid}: no checkpoint covers it"
            return
        digest = digest_of(row)
        if digest not in left:
            yield f"decision {row.uuid} (turn {row.turn}, {row.stage}): it is not what was stored"
            return
        at = left.index(digest)
        missing += at
        left = left[at + 1 :]
    while mark is not None:
        missing += len(left)
        if missing != mark.dropped:
            yield _lost(mark, missing)
            return
        mark, missing = next(rest, None), 0
        left = _digests(mark)


def _unreadable(session: int) -> str:
    for key, uuid in (
        Decision.objects.filter(session=session).order_by("pk").values_list("pk", "uuid")
    ):
        try:
            Decision.objects.get(pk=key)
        except ValueError:
            return f"decision {uuid}"
    return "a decision"


def _digests(mark: DecisionCheckpoint | None) -> list[bytes]:
    rows = bytes(mark.rows) if mark is not None else b""
    return [rows[at : at + ROW_DIGEST_BYTES] for at in range(0, len(rows), ROW_DIGEST_BYTES)]


def _lost(mark: DecisionCheckpoint, missing: int) -> str:
    return (
        f"checkpoint {mark.number}: {missing:,} of its {mark.count:,} decisions are gone, "
        f"{mark.dropped:,} of them by retention"
    )
