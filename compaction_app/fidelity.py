"""Does the audit find what was recorded? Compactions and flushes of both, at which call, at which size."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from compaction_app.engine.simulation.report import DONE
from compaction_app.models import AuditedTurn, Decision
from compaction_app.runs import Situation
from sessions_app.models import Entry
from sessions_app.transcripts.columns import MARKS, USER
from sessions_app.transcripts.timeline import Timeline

COMPACTION: Final = "compaction"
FLUSH: Final = "memory flush"
_RULES: Final[Mapping[str, str]] = {"compaction": COMPACTION, "memory_flush": FLUSH}


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened at a call of a turn (counted from 1); tokens before it, none if unknown."""

    turn: int
    kind: str
    call: int
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """The same thing in the recording and in the audit; none where only one of them has it."""

    turn: int
    kind: str
    recorded: Happened | None
    audited: Happened | None

    @property
    def same_call(self) -> bool:
        return (
            self.recorded is not None
            and self.audited is not None
            and self.recorded.call == self.audited.call
        )

    @property
    def apart(self) -> int | None:
        """By how many tokens the sizes differ; none where one is unknown."""
        sizes = [one.before if one else None for one in (self.audited, self.recorded)]
        return None if None in sizes else int(sizes[0] or 0) - int(sizes[1] or 0)


@dataclass(frozen=True, slots=True)
class Fidelity:
    """All pairs in their order."""

    pairs: tuple[Pair, ...]

    @property
    def line(self) -> str:
        """How far both agree, in one line."""
        parts = []
        for kind, plural in ((COMPACTION, "compactions"), (FLUSH, "memory flushes")):
            recorded = [pair for pair in self.pairs if pair.kind == kind and pair.recorded]
            if recorded:
                same = sum(pair.same_call for pair in recorded)
                parts.append(f"{same} of {len(recorded)} {plural}")
        extra = sum(pair.recorded is None for pair in self.pairs)
        line = f"{' and '.join(parts)} at the same call" if parts else "nothing was recorded"
        return f"{line}; {extra} replayed that were not recorded" if extra else line

    @property
    def is_whole(self) -> bool:
        """Whether they agree in everything: the same calls, the same sizes."""
        return all(pair.same_call and not pair.apart for pair in self.pairs)


def fidelity(situation: Situation, grown: Timeline) -> Fidelity | None:
    """The recording of a session beside its audit; none while there is no audit."""
    turns = list(
        AuditedTurn.objects.filter(window=situation.window)
        .order_by("number")
        .values_list("number", "start", "first", "last")
    )
    if not turns:
        return None
    spans = {number: (first or 0, last or 0) for number, _, first, last in turns}
    audited = list(_audited(situation, spans))
    recorded = list(_recorded(situation, grown, turns))
    return Fidelity(tuple(_pairs(recorded, audited)))


def _audited(situation: Situation, spans: Mapping[int, tuple[int, int]]) -> Iterator[Happened]:
    """What the rules let happen, of the latest audit of each turn."""
    found = Decision.objects.filter(
        session=situation.session, rule__in=_RULES, fired=True, reading=Decision.Reading.AUDIT
    )
    for row in found.order_by("turn", "id"):
        first, last = spans.get(row.turn, (1, 0))
        if not first <= row.pk <= last or (row.rule == COMPACTION and row.outcome != DONE):
            continue
        steps = {name: value for name, _, value, _ in row.steps}
        before = steps.get("tokensBefore") if row.rule == COMPACTION else None
        yield Happened(row.turn, _RULES[row.rule], row.call, before)


def _recorded(
    situation: Situation, grown: Timeline, turns: Sequence[tuple[int, int, Any, Any]]
) -> Iterator[Happened]:
    """What the branch shows; the call is the one that comes next in its turn."""
    rows = grown.columns
    flushes = np.flatnonzero((rows.mark == MARKS.index("flush")) & (rows.kind == USER))
    places = [(int(p), FLUSH, None) for p in flushes]
    sizes = zip(grown.compactions.place.tolist(), grown.compactions.tokens_before.tolist(), strict=True)  # fmt: skip
    places += [(place, COMPACTION, size if size >= 0 else None) for place, size in sizes]
    starts = [start for _, start, _, _ in turns]
    named = []
    for place, kind, size in sorted(places):
        seq = int(grown.branch[place])
        at = bisect_right(starts, seq) - 1
        if at >= 0:
            named.append((turns[at][0], seq, kind, size))
    calls = _calls(situation, {number for number, *_ in named})
    for number, seq, kind, size in named:
        before = sum(answer < seq for answer in calls.get(number, ()))
        yield Happened(number, kind, before + 1, size)


def _calls(situation: Situation, numbers: set[int]) -> dict[int, list[int]]:
    """The entry numbers of the answers of these turns."""
    found = AuditedTurn.objects.filter(window=situation.window, number__in=numbers)
    ids = {
        call["entry"]: number
        for number, sent in found.values_list("number", "sent")
        for call in sent
        if call["entry"]
    }
    calls: dict[int, list[int]] = {}
    entries = Entry.objects.filter(window=situation.window, entry_id__in=ids)
    for identity, seq in entries.values_list("entry_id", "seq"):
        calls.setdefault(ids[identity], []).append(seq)
    return calls


def _pairs(recorded: Sequence[Happened], audited: Sequence[Happened]) -> Iterator[Pair]:
    """The n-th of a kind in a turn belongs to the n-th of the other side."""
    keys = sorted({(one.turn, one.kind) for one in (*recorded, *audited)})
    for turn, kind in keys:
        sides = [[o for o in side if (o.turn, o.kind) == (turn, kind)] for side in (recorded, audited)]  # fmt: skip
        for left, right in zip_longest(*sides):
            yield Pair(turn, kind, left, right)
