"""The copy of a history that a prompt sends: its tool results cut until all of them fit.

Call after call the same results are cut, oldest first, and some more. So what has been cut down to a
notice is remembered, and each call goes on where the one before stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compaction_app.engine.pruning.recovery import aggregate_notice
from compaction_app.engine.pruning.truncation_rules import Notice
from compaction_app.engine.tape.cutting import RowCuts, row_cuts
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import NOTHING, RESULT, numbers_of
from compaction_app.engine.tape.view import Spot, View
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.tape.work import TurnRecord


@dataclass(slots=True)
class CopiedResults:
    """The results of one attempt's calls, and how far they are cut. ``state`` tells of what they are
    the results: none of it may change but that more come behind the others, from ``news`` on."""

    state: tuple[int, ...]
    end: int
    news: int | None = None
    spots: list[Spot] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    total: int = 0
    longest: int = 0
    candidates: int = 0
    notice: Notice | None = None
    settled: int = 0
    saved: int = 0
    changes: int = 0
    forms: dict[Spot, Row] = field(default_factory=dict)
    changed: list[int] = field(default_factory=lambda: list(NOTHING))

    def add(self, spot: Spot, row: Row) -> None:
        self.spots.append(spot)
        self.rows.append(row)
        self.total += row.result
        self.longest = max(self.longest, row.result)
        self.candidates += row.result > 0

    def begin(self, notice: Notice) -> None:
        """Cut from the oldest one on, under another notice."""
        self.notice, self.settled, self.saved, self.changes = notice, 0, 0, 0
        self.forms, self.changed = {}, list(NOTHING)

    def change(self, number: int, new: Row) -> None:
        """A result in its shorter form, for this call and the following ones."""
        self.forms[self.spots[number]] = new
        self.changes += 1
        _raise(self.changed, self.rows[number], new)


def truncate_view(record: TurnRecord, view: View) -> None:
    """Cut the results of a context as the copy for a prompt is cut."""
    recovery, cap = record.rules.pruning.recovery, record.setup.tool_cap_chars
    if recovery.prompt_aggregate_caps is None:
        return
    limit = recovery.prompt_aggregate_caps * cap
    if not may_be_over(record, view, cap, limit):
        return
    if view.forms or recovery.aggregate != "oldest_first" or not recovery.own_aggregate_budget:
        _cut_anew(record, view, cap, limit)
        return
    known = _results(record, view)
    if known.longest > js.maximum(recovery.least_cap_chars, cap):
        _cut_anew(record, view, cap, limit)
    else:
        _go_on(record, view, known, js.maximum(recovery.least_cap_chars, limit))


def reducible_chars(record: TurnRecord, view: View) -> int:
    """What cutting the results of a context to the run's cap would save."""
    cap = record.setup.tool_cap_chars
    if not may_be_over(record, view, cap, cap):
        return 0
    rows = [row for _, row in view.results()]
    return row_cuts(record.session.maker, rows, record.setup.lines.window, cap, cap).saved


def may_be_over(record: TurnRecord, view: View, single: float, budget: float) -> bool:
    """Whether a result, or all of a context's together, can be longer than these limits."""
    least = record.rules.pruning.recovery.least_cap_chars
    if view.totals()[RESULT] > js.maximum(least, budget):
        return True
    longest = max((row.result for row in view.forms.values()), default=0)
    return max(longest, record.session.longest_result) > js.maximum(least, single)


def _cut_anew(record: TurnRecord, view: View, cap: float, budget: float) -> None:
    results = list(view.results())
    window, rows = record.setup.lines.window, [row for _, row in results]
    for number, new in row_cuts(record.session.maker, rows, window, cap, budget).forms().items():
        spot, row = results[number]
        view.change(spot, row, new)


def _results(record: TurnRecord, view: View) -> CopiedResults:
    """What is known of the view's results, brought up to date."""
    tape, session = view.tape, record.session
    state = (tape.version, tape.start, view.base_end)
    known = session.copied
    if known is None or known.state != state or known.news not in (None, view.news):
        known = session.copied = CopiedResults(state, view.base_end)
        for spot, row in view.base_results():
            known.add(spot, row)
    for spot, row in view.new_results(known.end):
        known.add(spot, row)
        known.news = view.news
    known.end = len(tape)
    return known


def _go_on(record: TurnRecord, view: View, known: CopiedResults, budget: float) -> None:
    """As ``cutting.row_cuts``, from the first result on that was not cut down to a notice yet."""
    if known.candidates < 2:
        return
    maker = record.session.maker
    recovery = maker.rules.pruning.recovery
    notice = aggregate_notice(known.candidates, budget, recovery)
    if known.notice is not notice:
        known.begin(notice)
    cuts = RowCuts(maker, recovery, known.rows, notice=notice, least=js.utf16_len(notice(1)))
    remaining = known.total - budget - known.saved
    while known.settled < len(known.rows) and remaining > 0:
        row = known.rows[known.settled]
        if row.result - cuts.least > remaining:
            break
        saved = cuts.saved_by(row, cuts.least)
        if saved > 0:
            known.change(known.settled, cuts.form(row, cuts.least))
            known.saved += saved
            remaining -= saved
        known.settled += 1
    view.take(known.forms, known.changes, known.changed)
    for number in range(known.settled, len(known.rows)):
        if not remaining > 0:
            break
        row = known.rows[number]
        target = max(cuts.least, row.result - remaining)
        saved = cuts.saved_by(row, target)
        if saved > 0:
            view.change(known.spots[number], row, cuts.form(row, target))
            remaining -= saved


def _raise(changed: list[int], row: Row, new: Row) -> None:
    for number, (before, after) in enumerate(zip(numbers_of(row), numbers_of(new), strict=True)):
        changed[number] += after - before
