"""Which tool results are cut so that they fit, and to what, from their lengths (``pruning.recovery``).

A text is cut only where its length decides: the others are cut down to a bare notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction_app.engine.pruning.recovery import aggregate_notice, plan_reduction
from compaction_app.engine.pruning.recovery_rules import RecoveryRules
from compaction_app.engine.pruning.truncate import truncate_message
from compaction_app.engine.pruning.truncation_rules import Notice
from compaction_app.engine.tape.row import Row, RowMaker
from sessions_app.tokens import javascript as js


@dataclass(slots=True)
class RowCuts:
    """What cutting would save, in characters; ``targets`` are the lengths to cut to, by number."""

    maker: RowMaker
    rules: RecoveryRules
    rows: Sequence[Row]
    saved: int = 0
    notice: Notice | None = None
    least: int = 0
    targets: dict[int, float] = field(default_factory=dict)
    replacements: Mapping[int, Any] = field(default_factory=dict)

    def forms(self) -> dict[int, Row]:
        """The rows that change, in their new form, by number."""
        if self.replacements:
            return {
                number: self.maker.with_message(self.rows[number], message)
                for number, message in self.replacements.items()
            }
        return {n: self.form(self.rows[n], target) for n, target in self.targets.items()}

    def saved_by(self, row: Row, target: float) -> int:
        """Characters that a result loses when it is cut to ``target``."""
        if row.result <= self.least:
            return 0
        # One text that is cut to the length of a notice is that notice, cut to that length.
        if target == self.least and self.rules.truncation.bounded and _is_one_text(row):
            return row.result - self.least
        return row.result - self.form(row, target).result

    def form(self, row: Row, target: float) -> Row:
        notice, rules = self.notice, self.rules
        assert notice is not None
        return self.maker.form(
            row,
            ("aggregate", target, notice(1)),
            lambda message: truncate_message(
                message,
                target,
                rules.truncation,
                notice=notice,
                min_keep_chars=rules.min_keep_chars,
            ),
        )


def row_cuts(
    maker: RowMaker, rows: Sequence[Row], window: float, single_cap: float, budget_cap: float
) -> RowCuts:
    """As ``plan_reduction`` on the messages of these rows."""
    rules = maker.rules.pruning.recovery
    cuts = RowCuts(maker, rules, rows)
    single = js.maximum(rules.least_cap_chars, single_cap)
    if any(row.result > single for row in rows):
        plan = plan_reduction(
            [row.message for row in rows],
            window,
            rules,
            single_cap_chars=single_cap,
            aggregate_cap_chars=budget_cap,
        )
        cuts.replacements, cuts.saved = plan.replacements, plan.max_reducible_chars
        return cuts
    budget = single
    if rules.own_aggregate_budget:
        budget = js.maximum(rules.least_cap_chars, budget_cap)
    candidates = [number for number, row in enumerate(rows) if row.result > 0]
    if rules.aggregate is not None and len(candidates) >= 2:
        _cut_together(cuts, candidates, budget)
    return cuts


def _cut_together(cuts: RowCuts, candidates: list[int], budget: float) -> None:
    """Results cut one after another until all of them together fit ``budget``."""
    rows = cuts.rows
    remaining = sum(rows[number].result for number in candidates) - budget
    if not remaining > 0:
        return
    cuts.notice = aggregate_notice(len(candidates), budget, cuts.rules)
    cuts.least = js.utf16_len(cuts.notice(1))
    oldest_first = cuts.rules.aggregate == "oldest_first"
    for number in candidates if oldest_first else reversed(candidates):
        if not remaining > 0:
            break
        row = rows[number]
        target = max(cuts.least, row.result - remaining)
        saved = cuts.saved_by(row, target)
        if saved > 0:
            cuts.targets[number] = target
            cuts.saved += saved
            remaining -= saved


def _is_one_text(row: Row) -> bool:
    content = (row.message or {}).get("content")
    return isinstance(content, list) and len(content) == 1
