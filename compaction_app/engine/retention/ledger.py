"""What a what-if's compactions would lose, by set arithmetic: no text is read when a knob moves.

Every anchor has a number, every row of the branch the numbers it tells of. A cut removes rows; what
stands in the kept tail as well is kept; of the rest a summary without a model finds room for the
newest, kind by kind, up to the share it gives to each. What such a summary would quote beside anchors
takes no room here, and what the rules find only in another form is not looked for: an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.replay_context import Cut
from compaction_app.engine.retention.anchors import IDENTIFIERS, KINDS, Anchor, AnchorKind
from compaction_app.engine.retention.fates import LAST_ASKS
from sessions_app.transcripts.columns import Ints

BULLET_CHARS: Final = 3
"""What a line of a summary has beside its quote: the bullet and the end of the line."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters a summary has, and up to which share of them each kind is served first.

    Kinds are served in this order; what is left goes round again.
    """

    chars: int
    shares: tuple[tuple[tuple[AnchorKind, ...], float], ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """Different anchors that compactions removed, and those of them that then left the context."""

    removed: int = 0
    lost: int = 0
    constraints: int = 0
    constraints_lost: int = 0


class Ledger:
    """The anchors of one branch as arrays. Of the asks each compaction counts its last ones, so they
    stand apart."""

    def __init__(self, branch: Sequence[int], anchors: Mapping[int, Sequence[Anchor]]) -> None:
        numbers: dict[tuple[AnchorKind, str], int] = {}
        ids: list[int] = []
        self._offsets = np.zeros(len(branch) + 1, np.int64)
        kinds: list[int] = []
        chars: list[int] = []
        quotable: list[bool] = []
        inside: dict[int, set[int]] = {}
        asks: list[tuple[int, int]] = []
        for row, seq in enumerate(branch):
            here = anchors.get(seq, ())
            for anchor in here:
                number = numbers.setdefault((anchor.kind, anchor.key), len(numbers))
                if number == len(kinds):
                    kinds.append(KINDS.index(anchor.kind))
                    chars.append(len(anchor.text) + BULLET_CHARS)
                    quotable.append(False)
                quotable[number] |= anchor.voice != "tool" or anchor.kind == "error"
                if anchor.kind == "ask":
                    asks.append((row, number))
                else:
                    ids.append(number)
            for outer, inner in _nested(here):
                key = numbers[inner.kind, inner.key]
                inside.setdefault(numbers[outer.kind, outer.key], set()).add(key)
            self._offsets[row + 1] = len(ids)
        self._ids = np.array(ids, np.int64)
        self._ask_rows = np.array([row for row, _ in asks], np.int64)
        self._ask_ids = np.array([number for _, number in asks], np.int64)
        self._kinds, self._chars = np.array(kinds, np.int64), np.array(chars, np.int64)
        self._quotable: NDArray[np.bool_] = np.array(quotable, np.bool_)
        self._inside = {number: np.array(sorted(found)) for number, found in inside.items()}

    def tally(self, cuts: Iterable[Cut], room: Room) -> Tally:
        """What is lost when the branch is cut so, one compaction after the other."""
        count = len(self._kinds)
        removed, lost = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        carried = np.empty(0, np.int64)
        for cut in cuts:
            asked = self._asks_between(cut.start, cut.kept)[-LAST_ASKS:]
            gone = _newest_first(np.concatenate((self._between(cut.start, cut.kept), asked)))
            removed[gone] = True
            stays = np.zeros(count, np.bool_)
            stays[self._between(cut.kept, cut.end)] = True
            stays[self._asks_between(cut.kept, cut.end)] = True
            known = np.zeros(count, np.bool_)
            known[gone] = True
            waiting = np.concatenate((gone, carried[~known[carried]]))
            waiting = waiting[~stays[waiting]]
            carried = self._chosen(waiting, room)
            kept = np.zeros(count, np.bool_)
            kept[carried] = True
            lost[waiting[~kept[waiting]]] = True
        is_constraint = self._kinds == KINDS.index("constraint")
        return Tally(
            int(removed.sum()),
            int(lost.sum()),
            int((removed & is_constraint).sum()),
            int((lost & is_constraint).sum()),
        )

    def _between(self, start: int, end: int) -> Ints:
        return self._ids[self._offsets[start] : self._offsets[max(end, start)]]

    def _asks_between(self, start: int, end: int) -> Ints:
        first, last = np.searchsorted(self._ask_rows, (start, max(end, start)))
        return self._ask_ids[first:last]

    def _chosen(self, waiting: Ints, room: Room) -> Ints:
        """Those a summary has room for, the newest first; what a chosen sentence names is chosen with it."""
        able = waiting[self._quotable[waiting]]
        group_of = _groups_of_kinds(room)[self._kinds[able]]
        groups = [able[group_of == number] for number in range(len(room.shares))]
        sums = [np.cumsum(self._chars[group]) for group in groups]
        taken = [
            int(np.searchsorted(total, share * room.chars, side="right"))
            for total, (_, share) in zip(sums, room.shares, strict=True)
        ]
        left = room.chars - sum(int(s[n - 1]) for s, n in zip(sums, taken, strict=True) if n)
        for number, total in enumerate(sums):
            used = int(total[taken[number] - 1]) if taken[number] else 0
            more = int(np.searchsorted(total, used + max(left, 0), side="right"))
            left -= (int(total[more - 1]) if more else 0) - used
            taken[number] = more
        chosen = [group[:n] for group, n in zip(groups, taken, strict=True)]
        inside = self._inside
        named = [inside[n] for group in chosen for n in group.tolist() if n in inside]
        return _distinct(np.concatenate((*chosen, *named))) if groups else able[:0]


@lru_cache(maxsize=8)
def _groups_of_kinds(room: Room) -> Ints:
    """For the number of each kind that of the share that serves it, -1 for none."""
    found = np.full(len(KINDS), -1, np.int64)
    for number, (kinds, _) in enumerate(room.shares):
        found[[KINDS.index(kind) for kind in kinds]] = number
    return found


def _nested(anchors: Sequence[Anchor]) -> Iterable[tuple[Anchor, Anchor]]:
    """Each sentence with the identifiers that stand in it."""
    names = [anchor for anchor in anchors if anchor.kind in IDENTIFIERS]
    for outer in anchors:
        if outer.kind not in IDENTIFIERS:
            for inner in names:
                end = min(outer.end, outer.start + len(outer.text))
                if inner.block == outer.block and outer.start <= inner.start < end:
                    yield outer, inner


def _newest_first(ids: Ints) -> Ints:
    """Each number once, in the order of last occurrence, the newest first."""
    return _distinct(ids[::-1])


def _distinct(ids: Ints) -> Ints:
    _, first = np.unique(ids, return_index=True)
    return np.asarray(ids[np.sort(first)], np.int64)
