"""The branch of a session while it is replayed: rows, and running sums over them.

Every sum over a stretch of the branch is the difference of two running sums, so no rule walks over a
context. The file is kept beside the branch: it only grows, while a rewrite puts the branch's end anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import Final

from compaction_app.engine.compaction.cut import CutPoint, CutReason
from compaction_app.engine.tape.row import MASK, Joined, Row, RowMaker
from sessions_app.tokens import javascript as js

SENT, CONTEXT, PRESSURE, LOOP, PRUNER, RESULT, COUNT, WORDED = range(8)
FIELDS: Final = 8
Numbers = tuple[int, int, int, int, int, int, int, int]
NOTHING: Final[Numbers] = (0, 0, 0, 0, 0, 0, 0, 0)
POWER_BASE: Final = 6_364_136_223_846_793_005
CUT_ROLES: Final = frozenset(
    {"user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"}
)
CUT_TYPES: Final = frozenset({"branch_summary", "custom_message"})
TURN_ROLES: Final = frozenset({"user", "bashExecution"})


@dataclass(frozen=True, slots=True)
class Boundary:
    """The last compaction of a branch: its place, where its kept tail and the next range begin."""

    place: int
    kept: int
    range_start: int
    summary: Row
    at_ms: float


def numbers_of(row: Row) -> Numbers:
    """What a row adds to a context when it is neither joined nor left out."""
    if row.message is None:
        return NOTHING
    return (row.sent, row.context, row.pressure, row.loop, row.pruner, row.result, 1, row.is_worded)


class Places:
    """Where rows of one sort stand, in order."""

    def __init__(self) -> None:
        self.at: list[int] = []

    def cut_off(self, end: int) -> None:
        del self.at[bisect_left(self.at, end) :]

    def first_from(self, place: int) -> int | None:
        number = bisect_left(self.at, place)
        return self.at[number] if number < len(self.at) else None

    def last_before(self, place: int) -> int | None:
        number = bisect_left(self.at, place)
        return self.at[number - 1] if number else None

    def between(self, start: int, end: int) -> list[int]:
        return self.at[bisect_left(self.at, start) : bisect_left(self.at, end)]


COLUMNS: Final = ("context", "counted", "real")
PLACES: Final = (
    "cut_points", "turn_starts", "messages", "results", "answers", "billed", "users", "all_answers",
    "with_results", "media",
)  # fmt: skip


class Tape:
    """``taken``: sums over what an attempt takes over; ``whole``: over the messages as they are.
    ``version`` counts how often rows were put anew: as long as it stands, rows are only added."""

    def __init__(self, maker: RowMaker, header_bytes: int = 0) -> None:
        self.maker, self.is_shaped = maker, maker.is_shaped
        self.rows: list[Row] = []
        self.taken: list[list[int]] = [[0] for _ in range(FIELDS)]
        self.whole: list[list[int]] = [[0] for _ in range(FIELDS)]
        self.context, self.counted, self.real = [0], [0], [0]
        self.hash, self.power = [0], [1]
        self.group: list[int] = []
        self.joined = Joined()
        self.cut_points, self.turn_starts, self.messages = Places(), Places(), Places()
        self.results, self.answers, self.billed = Places(), Places(), Places()
        self.users, self.all_answers, self.with_results = Places(), Places(), Places()
        self.media = Places()
        self.bills: dict[int, int] = {}
        self.file_bills: dict[int, int] = {}
        self.ids: list[str] = []
        self.boundary: Boundary | None = None
        self.header_bytes = header_bytes
        self.file: list[Row] = []
        self.file_usage: list[int] = []
        self.file_bytes, self.file_recent = [0], [0]
        self.version = 0

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def byte_size(self) -> int:
        return self.header_bytes + self.file_bytes[-1] if self.file else 0

    @property
    def leaf_id(self) -> str | None:
        return self.ids[-1] if self.ids else None

    @property
    def start(self) -> int:
        """Where the kept rows of the context begin."""
        return self.boundary.kept if self.boundary else 0

    @property
    def range_start(self) -> int:
        """Where the entries begin that no compaction has summarised."""
        return self.boundary.range_start if self.boundary else 0

    def row(self, place: int) -> Row:
        """A row with the bill that it has here."""
        bill = self.bills.get(place)
        return self.rows[place] if bill is None else self.maker.billed(self.rows[place], bill)

    def file_row(self, number: int) -> Row:
        """A row of the file with the bill that it has there."""
        bill = self.file_bills.get(number)
        return self.file[number] if bill is None else self.maker.billed(self.file[number], bill)

    def append(self, row: Row) -> None:
        """Append behind the leaf, on the branch and in the file."""
        self.append_file(row, self.leaf_id, row.bytes)
        self.append_branch(row, row.entry["id"])

    def append_file(self, row: Row, parent: str | None, size: int) -> None:
        if row.has_usage:
            self.file_usage.append(len(self.file))
        self.file.append(row)
        # A row is measured with a parent of null.
        size += 0 if parent is None else js.utf8_len(parent) - 2
        self.file_bytes.append(self.file_bytes[-1] + size)
        self.file_recent.append(self.file_recent[-1] + row.recent)

    def append_branch(self, row: Row, identity: str) -> None:
        place = len(self.rows)
        self.rows.append(row)
        self.ids.append(identity)
        self._sum(self.whole, numbers_of(row))
        self._sum(self.taken, self._taken(row, place))
        self.context.append(self.context[-1] + row.context)
        self.counted.append(self.counted[-1] + row.counted)
        self.real.append(self.real[-1] + row.is_real)
        says = row.message is not None
        self.hash.append(
            (self.hash[-1] + row.key * self.power[-1]) & MASK if says else self.hash[-1]
        )
        self.power.append(self.power[-1] * POWER_BASE & MASK if says else self.power[-1])
        self._sort_in(row, place)

    @staticmethod
    def _sum(sums: list[list[int]], numbers: Sequence[int]) -> None:
        for column, number in zip(sums, numbers, strict=True):
            column.append(column[-1] + number)

    def _taken(self, row: Row, place: int) -> Numbers:
        """A row in an attempt's history: joined to the one before, or not there at all."""
        self.group.append(place)
        if row.message is None or row.left_out:
            return NOTHING
        own = numbers_of(row)
        if self.joined.joins(row):
            before, self.joined = self.joined, self.joined.with_row(row, is_shaped=self.is_shaped)
            self.group[place] = self._group_before(place)
            sent, pressure = self.joined.sent - before.sent, self.joined.pressure - before.pressure
            own = (sent, sent, pressure, *own[3:6], 0, 0)
        else:
            self.joined = Joined.begun(row, is_shaped=self.is_shaped)
        for result in row.missing:
            own = tuple(map(add, own, numbers_of(result)))
            self.joined = Joined("toolResult")
        return own

    def _group_before(self, place: int) -> int:
        before = place - 1
        while self.rows[before].message is None or self.rows[before].left_out:
            before -= 1
        return self.group[before]

    def _sort_in(self, row: Row, place: int) -> None:
        role = row.role if row.type == "message" else ""
        if row.type in CUT_TYPES or role in CUT_ROLES:
            self.cut_points.at.append(place)
        if row.type in CUT_TYPES or role in TURN_ROLES:
            self.turn_starts.at.append(place)
        if row.type == "message":
            self.messages.at.append(place)
        if row.role == "toolResult":
            self.results.at.append(place)
        if row.role == "toolResult" or row.missing:
            self.with_results.at.append(place)
        if row.has_media:
            self.media.at.append(place)
        if row.role == "user" and not row.left_out:
            self.users.at.append(place)
        if row.role == "assistant":
            self.all_answers.at.append(place)
        if row.role == "assistant" and not row.left_out:
            self.answers.at.append(place)
        if row.role == "assistant" and _is_trusted(row):
            self.billed.at.append(place)

    def history(self, end: int) -> Numbers:
        """What an attempt takes over of the rows up to ``end``, with the summary."""
        start = self.start
        sums = tuple(column[end] - column[start] for column in self.taken)
        if (
            start < end
            and (first := self._first_taken(start, end)) is not None
            and self.group[first] < start
        ):
            sums = tuple(map(add, sums, self._regrouped(first, end)))
        if self.boundary:
            sums = tuple(map(add, sums, numbers_of(self.boundary.summary)))
        return sums  # type: ignore[return-value]

    def _first_taken(self, start: int, end: int) -> int | None:
        return next(
            (
                i
                for i in range(start, end)
                if self.rows[i].message is not None and not self.rows[i].left_out
            ),
            None,
        )

    def _regrouped(self, first: int, end: int) -> Numbers:
        """What the first messages weigh more because nothing before them is left to join to."""
        group, joined, place = self.group[first], Joined(), first
        last = first
        while place < end and (self.group[place] == group or self._is_absent(place)):
            row = self.rows[place]
            if not self._is_absent(place):
                joined = (
                    joined.with_row(row, is_shaped=self.is_shaped)
                    if joined.role
                    else Joined.begun(row, is_shaped=self.is_shaped)
                )
                last = place
            place += 1
        sent = self.taken[SENT][last + 1] - self.taken[SENT][first]
        pressure = self.taken[PRESSURE][last + 1] - self.taken[PRESSURE][first]
        for result in self.rows[last].missing:
            sent, pressure = sent - result.sent, pressure - result.pressure
        return (joined.sent - sent, joined.sent - sent, joined.pressure - pressure, 0, 0, 0, 1, 1)

    def _is_absent(self, place: int) -> bool:
        return self.rows[place].message is None or self.rows[place].left_out

    def news(self, start: int, end: int) -> Numbers:
        """The messages of the rows as they are."""
        return tuple(column[end] - column[start] for column in self.whole)  # type: ignore[return-value]

    def context_tokens(self, start: int) -> int:
        """The estimate of the messages from ``start`` on, as a compaction counts them."""
        return self.context[-1] - self.context[start]

    def fingerprint(self) -> tuple[int, int]:
        """Of what the branch's context says."""
        start = self.start
        said = (self.hash[-1] - self.hash[start]) * pow(self.power[start], -1, 1 << 64) & MASK
        return (self.boundary.summary.key if self.boundary else 0, said)

    def cut(self, keep: float) -> CutPoint:
        """Where a compaction cuts the branch; the same answer as ``compaction.cut.find_cut_point``."""
        start, end = self.range_start, len(self.rows)
        reached = self._reached(start, end, keep)
        collected = self.counted[end] - self.counted[start if reached is None else reached]
        first = self.cut_points.first_from(start)
        if first is None:
            return CutPoint(start, -1, False, "no_cut_point", collected, reached, None)
        reason: CutReason = "all_kept"
        valid = first
        if reached is not None:
            behind = self.cut_points.first_from(reached)
            valid = first if behind is None else behind
            reason = "no_cut_point_behind" if behind is None else "kept_enough"
        cut = valid
        while cut > start and self.rows[cut - 1].type not in ("compaction", "message"):
            cut -= 1
        turn = None
        if not (self.rows[cut].type == "message" and self.rows[cut].role == "user"):
            turn = self.turn_starts.last_before(cut + 1)
        turn = -1 if turn is None or turn < start else turn
        return CutPoint(cut, turn, turn >= 0, reason, collected, reached, valid)

    def _reached(self, start: int, end: int, keep: float) -> int | None:
        """The last message from which on at least ``keep`` tokens are collected."""
        sums, last = self.counted, self.messages.last_before(end)
        if last is None or last < start or sums[end] - sums[start] < keep:
            return None
        return min(bisect_right(sums, sums[end] - keep, start, end + 1) - 1, last)

    def joined_at(self, end: int) -> Joined:
        """How the message weighs that a row at ``end`` could be joined to."""
        joined = Joined()
        taken = [i for i in range(max(0, end - 64), end) if not self._is_absent(i)]
        if not taken:
            return joined
        group = self.group[taken[-1]]
        for place in (i for i in taken if self.group[i] == group):
            row = self.rows[place]
            joined = (
                joined.with_row(row, is_shaped=self.is_shaped)
                if joined.role
                else Joined.begun(row, is_shaped=self.is_shaped)
            )
        return Joined("toolResult") if self.rows[taken[-1]].missing else joined


def _is_trusted(row: Row) -> bool:
    message = row.message or {}
    stop = message.get("stopReason")
    return stop not in ("aborted", "error") and isinstance(message.get("usage"), dict)
