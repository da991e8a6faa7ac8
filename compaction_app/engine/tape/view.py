"""One call's context on its way through the stages: sums, and the few messages that have another form.

What ``turn.calling`` does to lists of messages is done here to sums; only messages that a stage changes
are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add

from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import (
    COUNT,
    NOTHING,
    Numbers,
    Tape,
    numbers_of,
)

Spot = tuple[int, int]
"""Where a message stands: the place of its row, and 0, or the number of a result made for that row."""


@dataclass(slots=True)
class View:
    """History up to ``base_end``, then what the prompt brings, then the rows from ``news`` on."""

    tape: Tape
    base_end: int
    fresh: tuple[Row, ...]
    news: int
    forms: dict[Spot, Row] = field(default_factory=dict)
    changes: int = 0
    _changed: list[int] = field(default_factory=lambda: list(NOTHING))
    _whole: tuple[int, Numbers] | None = None

    def totals(self) -> Numbers:
        if self._whole is None or self._whole[0] != len(self.tape):
            sums = map(add, self.tape.history(self.base_end), self._brought())
            self._whole = len(self.tape), tuple(sums)
        assert self._whole is not None
        return tuple(map(add, self._whole[1], self._changed))

    def _brought(self) -> Iterator[int]:
        sums: Iterator[int] = iter(self.tape.news(self.news, len(self.tape)))
        for row in self.fresh:
            sums = map(add, sums, numbers_of(row))
        return sums

    @property
    def base_count(self) -> int:
        return self.tape.history(self.base_end)[COUNT]

    def preset(self, forms: Mapping[Spot, tuple[Row, Row]]) -> View:
        """The view of a history whose messages already have other forms, each with the one before."""
        for spot, (row, new) in forms.items():
            self.change(spot, row, new)
        self.changes = 0
        return self

    def change(self, spot: Spot, row: Row, new: Row) -> None:
        """Another form for this call alone."""
        self.forms[spot] = new
        self.changes += 1
        for field_number, (before, after) in enumerate(
            zip(numbers_of(row), numbers_of(new), strict=True)
        ):
            self._changed[field_number] += after - before

    def take(self, forms: Mapping[Spot, Row], changes: int, changed: Sequence[int]) -> None:
        """Other forms for this call, and what all of them together change."""
        self.forms = dict(forms)
        self.changes += changes
        self._changed = list(map(add, self._changed, changed))

    def results(self) -> Iterator[tuple[Spot, Row]]:
        """The tool results in order, in the form they have by now."""
        forms = self.forms
        for spot, row in (*self.base_results(), *self.new_results(self.news)):
            yield spot, forms.get(spot, row)

    def base_results(self) -> Iterator[tuple[Spot, Row]]:
        """The tool results of the history, as they stand on the tape."""
        tape = self.tape
        for place in tape.with_results.between(tape.start, self.base_end):
            row = tape.rows[place]
            if row.left_out:
                continue
            if row.role == "toolResult":
                yield (place, 0), row
            for number, result in enumerate(row.missing, 1):
                yield (place, number), result

    def new_results(self, first: int) -> Iterator[tuple[Spot, Row]]:
        """Those that came since the prompt, from the place ``first`` on."""
        tape = self.tape
        for place in tape.results.between(max(first, self.news), len(tape)):
            yield (place, 0), tape.rows[place]

    def index_of(self, place: int) -> int:
        """Which message of the context a row is, or is joined to."""
        tape = self.tape
        if place >= self.news:
            news = tape.news(self.news, place)[COUNT]
            return self.base_count + sum(numbers_of(row)[COUNT] for row in self.fresh) + news
        group = max(tape.group[place], tape.start)
        return tape.history(group)[COUNT] if group > tape.start else int(tape.boundary is not None)

    def answers(self) -> Iterator[int]:
        """The places of the answers, newest first; joined ones once, by their first row."""
        tape = self.tape
        yield from reversed(tape.all_answers.between(self.news, len(tape)))
        last = -1
        for place in reversed(tape.answers.between(tape.start, self.base_end)):
            group = max(tape.group[place], tape.start)
            if group != last:
                last = group
                yield group

    @property
    def first_user(self) -> int:
        """The place behind which a user has spoken."""
        tape = self.tape
        users = tape.users.between(tape.start, self.base_end)
        if users:
            return users[0]
        return self.news - 1 if self.fresh else len(tape)
