"""How much the tool results of a history can be cut, and that history cut.

Two steps: every result over the single cap is cut to it; then, where the results together exceed an
aggregate budget, results are cut one after another until the rest fits. The same plan answers "how
much would that save?" before a prompt, cuts the copy a model call sends, and rewrites a session after
an overflow (spec pruning 6, profiles 2.7 and 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.pruning.caps import (
    max_chars,
)
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.elision import elided
from compaction_app.engine.pruning.recovery_rules import RecoveryRules
from compaction_app.engine.pruning.truncate import tool_result_text_chars, truncate_message
from compaction_app.engine.pruning.truncation_rules import (
    MIN_KEEP_CHARS,
    Notice,
)
from sessions_app.tokens import javascript as js

OVERSIZED: Final = "oversized_tool_result"
AGGREGATE: Final = "aggregate_tool_results"


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """What cutting would do: its figures in characters, the new messages by position, the changes."""

    max_chars: float
    aggregate_budget_chars: float
    tool_result_count: int
    total_tool_result_chars: int
    oversized_count: int
    oversized_reducible_chars: int
    aggregate_reducible_chars: int
    over_aggregate_budget: bool = False
    aggregate_count: int = 0
    replacements: Mapping[int, Any] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    @property
    def max_reducible_chars(self) -> int:
        return self.oversized_reducible_chars + self.aggregate_reducible_chars

    @property
    def likely_oversized(self) -> bool:
        """Whether cutting is worth trying (``sessionLikelyHasOversizedToolResults``)."""
        return self.oversized_count > 0 or self.aggregate_reducible_chars > 0


@dataclass(frozen=True, slots=True)
class TruncatedMessages:
    """The list with its cut messages (the same list when nothing was cut), and what was changed."""

    messages: Sequence[Any]
    truncated_count: int
    changes: tuple[Change, ...]


def plan_reduction(
    messages: Sequence[Any],
    window_tokens: float,
    rules: RecoveryRules,
    *,
    single_cap_chars: float | None = None,
    aggregate_cap_chars: float | None = None,
    settled: Set[int] = frozenset(),
    trailing: Set[int] = frozenset(),
) -> ReductionPlan:
    """What cutting ``messages`` (anything that is no tool result is passed over) would save.

    The caps default to the automatic cap of the window; the aggregate one to what the version derives
    from the single one. ``settled`` and ``trailing`` results are not cut for the aggregate; of a
    trailing one, which no answer has seen yet, more is kept where it is oversized.
    """
    cap = max_chars(window_tokens, rules.caps) if single_cap_chars is None else single_cap_chars
    single = js.maximum(rules.least_cap_chars, cap)
    budget = rules.aggregate_budget(single, window_tokens)
    if rules.own_aggregate_budget and aggregate_cap_chars is not None:
        budget = js.maximum(rules.least_cap_chars, aggregate_cap_chars)
    reduction = _Reduction(messages, rules)
    before = reduction.total
    reduction.cut_oversized(single, trailing)
    between = reduction.total
    reduction.cut_aggregate(budget, settled | trailing)
    return ReductionPlan(
        max_chars=single,
        aggregate_budget_chars=budget,
        tool_result_count=len(reduction.sizes),
        total_tool_result_chars=before,
        oversized_count=len(reduction.oversized),
        oversized_reducible_chars=before - between,
        aggregate_reducible_chars=between - reduction.total,
        over_aggregate_budget=between > budget,
        aggregate_count=len({c.position for c in reduction.changes if c.rule == AGGREGATE}),
        replacements=reduction.new,
        changes=tuple(reduction.changes),
    )


class _Reduction:
    """The results of one list while they are cut; ``sizes`` and ``total`` are kept up to date."""

    def __init__(self, messages: Sequence[Any], rules: RecoveryRules) -> None:
        self.messages, self.rules = messages, rules
        measured = ((i, self._size(message)) for i, message in enumerate(messages))
        self.sizes = {i: size for i, size in measured if size > 0}
        self.total = sum(self.sizes.values())
        self.oversized: list[int] = []
        self.new: dict[int, Any] = {}
        self.changes: list[Change] = []

    def _size(self, message: Any) -> int:
        return tool_result_text_chars(message, self.rules.truncation)

    def _replace(self, position: int, old: Any, new: Any, rule: str, reason: str) -> None:
        size = self._size(new)
        self.total += size - self.sizes[position]
        self.sizes[position] = size
        self.new[position] = new
        self.changes.append(change(position, rule, old, new, reason))

    def cut_oversized(self, single: float, trailing: Set[int]) -> None:
        for position, size in tuple(self.sizes.items()):
            if size > single:
                keep = MIN_KEEP_CHARS if position in trailing else self.rules.min_keep_chars
                old = self.messages[position]
                new = truncate_message(old, single, self.rules.truncation, min_keep_chars=keep)
                self.oversized.append(position)
                self._replace(position, old, new, OVERSIZED, "over_single_cap")

    def cut_aggregate(self, budget: float, spared: Set[int]) -> None:
        """Results cut one after another until all of them together fit ``budget``."""
        rules = self.rules
        candidates = [i for i, size in self.sizes.items() if size > 0]
        if rules.aggregate is None or len(candidates) < 2:
            return
        notice = aggregate_notice(len(candidates), budget, rules)
        ordered = candidates if rules.aggregate == "oldest_first" else candidates[::-1]
        open_ones = [i for i in ordered if i not in spared]
        for position in open_ones:
            self._shorten(position, budget, notice)
        for position in open_ones if rules.elides else ():
            self._elide(position, budget)

    def _shorten(self, position: int, budget: float, notice: Notice) -> None:
        size, excess = self.sizes[position], self.total - budget
        least = js.utf16_len(notice(1))
        if excess > 0 and size > least:
            target = max(least, size - min(size - least, excess))
            old = self.new.get(position, self.messages[position])
            new = truncate_message(
                old,
                target,
                self.rules.truncation,
                notice=notice,
                min_keep_chars=self.rules.min_keep_chars,
            )
            if self._size(new) < size:
                self._replace(position, old, new, AGGREGATE, "over_aggregate_budget")

    def _elide(self, position: int, budget: float) -> None:
        size, excess = self.sizes[position], self.total - budget
        if excess > 0 and size > 0:
            old = self.new.get(position, self.messages[position])
            new = elided(old, max(0, size - excess))
            if self._size(new) < size:
                self._replace(position, old, new, AGGREGATE, "elided_for_aggregate_budget")


def aggregate_notice(candidates: int, budget: float, rules: RecoveryRules) -> Notice:
    """What ends a result that is cut so that ``candidates`` of them fit a budget together."""
    notice = rules.truncation.notice
    if rules.crowded_notice and budget < candidates * js.utf16_len(notice(1)):
        return rules.crowded_notice
    return notice


def reduction_decision(plan: ReductionPlan, rule_set: str) -> Decision:
    """Whether recovery tries to cut tool results at all, and why."""
    reason = "within_caps"
    if plan.oversized_count > 0:
        reason = "over_single_cap"
    elif plan.likely_oversized:
        reason = "over_aggregate_budget"
    return Decision(
        rule="tool_result_recovery",
        fired=plan.likely_oversized,
        outcome="truncate" if plan.likely_oversized else "skip",
        reason=reason,
        rule_set=rule_set,
        inputs={
            "toolResultCount": plan.tool_result_count,
            "totalToolResultChars": plan.total_tool_result_chars,
            "oversizedCount": plan.oversized_count,
        },
        steps=(
            Step("maxChars", "min(floor(window*0.3)*4, cap)", plan.max_chars, "chars"),
            Step("aggregateBudget", "override ?? maxChars", plan.aggregate_budget_chars, "chars"),
            Step("oversized", "over maxChars", plan.oversized_reducible_chars, "chars"),
            Step("aggregate", "over the budget", plan.aggregate_reducible_chars, "chars"),
            Step("maxReducible", "oversized + aggregate", plan.max_reducible_chars, "chars"),
        ),
    )


def truncate_for_prompt(
    messages: Sequence[Any], window_tokens: float, rules: RecoveryRules, live_cap_chars: float
) -> TruncatedMessages:
    """The copy of a history that a prompt sends, by the run's cap; nothing that is stored changes.

    The same list where the version does not cut that copy.
    """
    if rules.prompt_aggregate_caps is None:
        return TruncatedMessages(messages, 0, ())
    return truncate_tool_results(
        messages,
        window_tokens,
        rules,
        single_cap_chars=live_cap_chars,
        aggregate_cap_chars=rules.prompt_aggregate_caps * live_cap_chars,
    )


def truncate_tool_results(
    messages: Sequence[Any],
    window_tokens: float,
    rules: RecoveryRules,
    *,
    single_cap_chars: float | None = None,
    aggregate_cap_chars: float | None = None,
) -> TruncatedMessages:
    """A copy of ``messages`` with the plan carried out; messages that fit are the same objects."""
    plan = plan_reduction(
        messages,
        window_tokens,
        rules,
        single_cap_chars=single_cap_chars,
        aggregate_cap_chars=aggregate_cap_chars,
    )
    if not plan.replacements:
        return TruncatedMessages(messages, 0, ())
    cut = [plan.replacements.get(i, message) for i, message in enumerate(messages)]
    return TruncatedMessages(cut, len(plan.replacements), plan.changes)
