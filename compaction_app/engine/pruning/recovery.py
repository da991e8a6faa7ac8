"""How much the tool results of a history can be cut, and that history cut.

Two steps: every result over the single cap is cut to it; then, where the results together exceed an
aggregate budget, results are cut one after another until the rest fits. The same plan answers "how
much would that save?" before a prompt, cuts the copy a model call sends, and rewrites a session after
an overflow (spec pruning 6, profiles 2.7 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.pruning.caps import (
    CAPS_2026_3,
    CAPS_2026_4_20,
    CAPS_2026_5_28,
    CapRules,
    max_chars,
)
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.truncate import (
    TRUNCATION_2026_3,
    TRUNCATION_2026_4_20,
    TRUNCATION_2026_5_28,
    Notice,
    TruncationRules,
    recovery_notice,
    tool_result_text_chars,
    truncate_message,
)
from sessions_app.tokens import javascript as js

OVERSIZED: Final = "oversized_tool_result"
AGGREGATE: Final = "aggregate_tool_results"


@dataclass(frozen=True, slots=True)
class RecoveryRules:
    """What a version cuts when a history is too large.

    ``aggregate``: in which order results are cut until all fit together, or none where the version has
    no such step. ``own_aggregate_budget``: whether a caller may set it apart from the single cap.
    ``least_cap_chars`` bounds both caps from below.
    ``crowded_notice`` replaces the notice when the budget does not even hold one notice a result.
    ``prompt_aggregate_caps``: how many single caps the copy for a prompt may hold; none where the
    version does not cut that copy.
    """

    truncation: TruncationRules
    caps: CapRules
    min_keep_chars: int
    aggregate: Literal["oldest_first", "newest_first"] | None
    nothing_to_do: str
    least_cap_chars: float = 1
    own_aggregate_budget: bool = False
    crowded_notice: Notice | None = None
    prompt_aggregate_caps: int | None = None


RECOVERY_2026_3: Final = RecoveryRules(
    truncation=TRUNCATION_2026_3,
    caps=CAPS_2026_3,
    min_keep_chars=2000,
    aggregate=None,
    nothing_to_do="no oversized tool results",
    least_cap_chars=-math.inf,
)
RECOVERY_2026_4_20: Final = RecoveryRules(
    truncation=TRUNCATION_2026_4_20,
    caps=CAPS_2026_4_20,
    min_keep_chars=0,
    aggregate="newest_first",
    nothing_to_do="no oversized or aggregate tool results",
)
RECOVERY_2026_5_28: Final = RecoveryRules(
    truncation=TRUNCATION_2026_5_28,
    caps=CAPS_2026_5_28,
    min_keep_chars=0,
    aggregate="oldest_first",
    nothing_to_do="no oversized or aggregate tool results",
    own_aggregate_budget=True,
    crowded_notice=recovery_notice,
    prompt_aggregate_caps=4,
)


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
) -> ReductionPlan:
    """What cutting ``messages`` (anything that is no tool result is passed over) would save.

    The caps default to the automatic cap of the window; the aggregate one to the single one.
    """
    cap = max_chars(window_tokens, rules.caps) if single_cap_chars is None else single_cap_chars
    single = js.maximum(rules.least_cap_chars, cap)
    budget = single
    if rules.own_aggregate_budget and aggregate_cap_chars is not None:
        budget = js.maximum(rules.least_cap_chars, aggregate_cap_chars)
    lengths = {i: n for i, m in enumerate(messages) if (n := tool_result_text_chars(m)) > 0}
    oversized = _cut_oversized(messages, lengths, single, rules)
    aggregate = _cut_aggregate(messages, lengths, oversized, budget, rules)
    return ReductionPlan(
        max_chars=single,
        aggregate_budget_chars=budget,
        tool_result_count=len(lengths),
        total_tool_result_chars=sum(lengths.values()),
        oversized_count=len(oversized),
        oversized_reducible_chars=sum(c.removed_chars for _, c in oversized.values()),
        aggregate_reducible_chars=sum(c.removed_chars for _, c in aggregate.values()),
        replacements={i: message for i, (message, _) in {**oversized, **aggregate}.items()},
        changes=tuple(c for step in (oversized, aggregate) for _, c in step.values()),
    )


_Cuts = dict[int, tuple[Any, Change]]


def _cut_oversized(
    messages: Sequence[Any], lengths: Mapping[int, int], single: float, rules: RecoveryRules
) -> _Cuts:
    cuts: _Cuts = {}
    for position, length in lengths.items():
        if length > single:
            old = messages[position]
            new = truncate_message(
                old, single, rules.truncation, min_keep_chars=rules.min_keep_chars
            )
            cuts[position] = (new, change(position, OVERSIZED, old, new, "over_single_cap"))
    return cuts


def _cut_aggregate(
    messages: Sequence[Any],
    lengths: Mapping[int, int],
    oversized: _Cuts,
    budget: float,
    rules: RecoveryRules,
) -> _Cuts:
    """Results cut one after another until all of them together fit ``budget``."""
    sizes = {i: oversized[i][1].after_chars if i in oversized else n for i, n in lengths.items()}
    candidates = [i for i, size in sizes.items() if size > 0]
    remaining = sum(sizes.values()) - budget
    cuts: _Cuts = {}
    if rules.aggregate is None or len(candidates) < 2:
        return cuts
    notice = _aggregate_notice(len(candidates), budget, rules)
    least = js.utf16_len(notice(1))
    ordered = candidates if rules.aggregate == "oldest_first" else reversed(candidates)
    for position in ordered:
        if not remaining > 0:
            break
        size = sizes[position]
        cut = min(max(0, size - least), remaining)
        if cut == 0:
            continue
        old = oversized[position][0] if position in oversized else messages[position]
        target = max(least, size - cut)
        new = truncate_message(
            old, target, rules.truncation, notice=notice, min_keep_chars=rules.min_keep_chars
        )
        made = change(position, AGGREGATE, old, new, "over_aggregate_budget")
        if made.removed_chars > 0:
            cuts[position] = (new, made)
            remaining -= made.removed_chars
    return cuts


def _aggregate_notice(candidates: int, budget: float, rules: RecoveryRules) -> Notice:
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
