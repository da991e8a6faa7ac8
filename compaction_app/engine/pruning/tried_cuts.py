"""One tool result under each rule that cuts it, by a version's constants and by others.

Three rules cut a single result: the cap when it is stored, the guard before a model call, and the
truncation that follows an overflow (spec pruning 4, 6 and 10.3). What results do to each other (the
aggregate budget) depends on which of them stand in one context and is not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.pruning.caps import live_max_chars, session_max_chars
from compaction_app.engine.pruning.cut_shape import CutShape, shape_of
from compaction_app.engine.pruning.guard import guard_limits
from compaction_app.engine.pruning.recovery import plan_reduction
from compaction_app.engine.pruning.soft_cut import FIXED_NOTICE, cut_tool_result
from compaction_app.engine.pruning.truncate import cap_message
from compaction_app.engine.pruning.truncation_rules import Notice, constant_notice
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens.loop_chars import loop_message_chars

CutName = Literal["storing", "call", "recovery"]
CUTS: Final[tuple[CutName, ...]] = ("storing", "call", "recovery")


@dataclass(frozen=True, slots=True)
class CutLimits:
    """Largest sizes: ``storing`` and ``recovery`` in characters (in weights where the version weighs),
    ``call`` in the guard's estimate, to which a character of a result counts at least twice."""

    storing: float
    call: float
    recovery: float

    def of(self, name: CutName) -> float:
        return float(getattr(self, name))


def cut_limits(
    window_tokens: float, guarded_tokens: float, config: Any, rules: RuleSet
) -> CutLimits:
    """The limits of a run with this window; ``guarded_tokens`` is the window that the guard goes by."""
    pruning = rules.pruning
    live = live_max_chars(window_tokens, config, None, pruning.caps)
    return CutLimits(
        storing=session_max_chars(window_tokens, config, None, pruning.caps),
        call=guard_limits(guarded_tokens, pruning.guard).single_chars,
        recovery=max(pruning.recovery.least_cap_chars, live),
    )


def cut_by(name: CutName, message: Any, limits: CutLimits, rules: RuleSet) -> Any:
    """``message`` as the rule leaves it; the same object where it does not cut.

    Raises:
        TypeError: where the version's guard fails on a malformed message too.
    """
    pruning, limit = rules.pruning, limits.of(name)
    if name == "storing":
        return cap_message(message, limit, pruning.persist.truncation)
    if name == "call":
        return cut_tool_result(message, limit, pruning.guard.cut)
    plan = plan_reduction([message], 0, pruning.recovery, single_cap_chars=limit)
    return plan.replacements.get(0, message)


def notice_of(name: CutName, rules: RuleSet) -> Notice:
    """What the rule ends a cut text with."""
    pruning = rules.pruning
    if name == "storing":
        return pruning.persist.truncation.persist_notice
    if name == "recovery":
        return pruning.recovery.truncation.notice
    if pruning.guard.cut.truncation is not None:
        return pruning.guard.cut.truncation.notice
    return pruning.guard.cut.counted_notice or constant_notice(f"\n{FIXED_NOTICE}")


@dataclass(frozen=True, slots=True)
class TriedCut:
    """A result that one of both cuts: ``entry`` is its number, ``size`` what the limit is compared with."""

    entry: int
    size: int
    chars: int
    own: CutShape
    tried: CutShape

    @property
    def differs(self) -> bool:
        return self.own != self.tried


@dataclass(frozen=True, slots=True)
class TriedRule:
    """A rule with its limit under both, what it cuts, and the size of the largest result."""

    name: CutName
    own_limit: float
    tried_limit: float
    cuts: tuple[TriedCut, ...]
    largest: int


def tried_rule(
    name: CutName,
    results: Iterable[tuple[int, Mapping[str, Any]]],
    own: tuple[RuleSet, CutLimits],
    tried: tuple[RuleSet, CutLimits],
) -> TriedRule:
    """What a rule leaves of results (by the numbers of their entries) under both sets of constants.

    Results on which the guard fails, as the runtime does, are left out.
    """
    made, largest = [], 0
    for entry, message in results:
        try:
            before = shape_of(message, message, notice_of(name, own[0]))
            size = loop_message_chars(message, own[0].pruning.guard.cut.chars)
            shapes = [
                shape_of(message, cut_by(name, message, limits, rules), notice_of(name, rules))
                for rules, limits in (own, tried)
            ]
        except TypeError:
            continue
        size = size if name == "call" else before.total
        largest = max(largest, size)
        if any(shape.is_cut for shape in shapes):
            made.append(TriedCut(entry, size, before.total, *shapes))
    return TriedRule(name, own[1].of(name), tried[1].of(name), tuple(made), largest)
