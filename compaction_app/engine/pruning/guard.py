"""Does the context of the next model call fit, and what is cut so that it does?

The soft guard runs before every call of a tool loop. Single results over their limit are cut. Where
the whole is still too large, 2026.3 gives up old results; later versions stop the call and leave the
rest to recovery (spec pruning 10.4 and 10.5, profiles 2.13, 2.14 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.pruning.change import Change, change
from compaction_app.engine.pruning.compact_results import compact_oldest, write_back
from compaction_app.engine.pruning.soft_cut import (
    SOFT_CUT_2026_3,
    SOFT_CUT_2026_4_20,
    SOFT_CUT_2026_5_28,
    SOFT_CUT_2026_9,
    SoftCutRules,
    cut_tool_result,
)
from compaction_app.engine.routing import (
    MID_TURN_OVERFLOW_TEXT,
    Prompt,
    PromptRoute,
    route_prompt,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens.loop_chars import loop_message_chars
from sessions_app.tokens.pressure import is_tool_result

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

SOFT_GUARD: Final = "soft_guard"
MIN_LIMIT_CHARS: Final = 1024
CHARS_PER_TOKEN: Final = 4
RESULT_CHARS_PER_TOKEN: Final = 2
DEFAULT_WINDOW_TOKENS: Final = 200_000
OVERFLOW_TEXT: Final = (
    "Context overflow: estimated context size exceeds safe threshold during tool loop."
)


@dataclass(frozen=True, slots=True)
class GuardRules:
    """How a version guards.

    ``headroom_share`` and ``single_share``: the parts of the window that the whole and one result may
    fill. ``too_large``: what happens when the whole does not fit. ``sticks``: whether the cut form
    replaces the message for the rest of the session in memory. ``window_from_budget``: whether the
    run's context budget goes before the model's window. ``checks_mid_turn``: whether the routing
    before a prompt can run here as well.
    """

    cut: SoftCutRules
    headroom_share: float
    too_large: Literal["compact_oldest", "overflow", "send"]
    sticks: bool
    window_from_budget: bool = True
    checks_mid_turn: bool = False
    single_share: float = 0.5


GUARD_2026_3: Final = GuardRules(
    cut=SOFT_CUT_2026_3,
    headroom_share=0.75,
    too_large="compact_oldest",
    sticks=True,
    window_from_budget=False,
)
GUARD_2026_4_20: Final = GuardRules(
    cut=SOFT_CUT_2026_4_20, headroom_share=0.9, too_large="overflow", sticks=False
)
GUARD_2026_5_28: Final = GuardRules(
    cut=SOFT_CUT_2026_5_28,
    headroom_share=0.9,
    too_large="overflow",
    sticks=False,
    checks_mid_turn=True,
)
GUARD_2026_9: Final = replace(
    GUARD_2026_5_28, cut=SOFT_CUT_2026_9, headroom_share=math.inf, too_large="send"
)


Transform = Callable[[Sequence[Any]], Any]
"""What else changes a context before it is sent."""


@dataclass(frozen=True, slots=True)
class MidTurnCheck:
    """The routing before a prompt, run inside a tool loop when results came in behind the ``fence``.

    ``fence`` is the length of the list at the last check, at first the number of messages before the
    prompt; none for the whole list. The other fields are those of ``route_prompt``.
    """

    context_tokens: float
    reserve_tokens: float
    tool_result_max_chars: float | None = None
    system: object = None
    fence: int | None = None


@dataclass(frozen=True, slots=True)
class Guarded:
    """The context to send (the list given when nothing was cut), and why.

    ``error`` is the text the call fails with; ``mid_turn`` the route that stopped it; ``fence`` what
    the next mid-turn check starts from.
    """

    messages: Sequence[Any]
    changes: tuple[Change, ...]
    decision: Decision
    new_forms: Mapping[int, Any]
    error: str | None = None
    mid_turn: PromptRoute | None = None
    fence: int | None = None


def guard_window(
    context_tokens: object, model_window: object, model_max_tokens: object, rules: GuardRules
) -> int | float:
    """The window a run guards: its context budget, else the model's own, else 200,000 tokens."""
    budget = context_tokens if rules.window_from_budget else None
    given = (value for value in (budget, model_window, model_max_tokens) if js.is_number(value))
    return js.maximum(1, js.floor(next(given, DEFAULT_WINDOW_TOKENS)))


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """In estimated characters."""

    single_chars: float
    total_chars: float


def guard_limits(window_tokens: float, rules: GuardRules) -> GuardLimits:
    """What one result and the whole context may hold for a window."""
    window = js.maximum(1, js.floor(window_tokens))
    single = js.floor(window * RESULT_CHARS_PER_TOKEN * rules.single_share)
    total = js.floor(window * CHARS_PER_TOKEN * rules.headroom_share)
    return GuardLimits(js.maximum(MIN_LIMIT_CHARS, single), js.maximum(MIN_LIMIT_CHARS, total))


def guard_context(
    messages: Sequence[Any],
    window_tokens: float,
    rules: RuleSet,
    *,
    previous: Transform | None = None,
    mid_turn: MidTurnCheck | None = None,
    in_place: bool = False,
) -> Guarded:
    """The context of one model call under the soft guard.

    Args:
        previous: the transform that ran before the guard was put around it; an answer that is no list
            is passed over.
        in_place: change the message objects themselves where the version's guard does so, and answer
            the very list. Otherwise nothing given is changed.
    """
    answer = messages if previous is None else previous(messages)
    context = answer if isinstance(answer, list) else messages
    limits = guard_limits(window_tokens, rules.pruning.guard)
    guarded = enforce_limits(context, limits, rules, mid_turn)
    if not (in_place and rules.pruning.guard.sticks):
        return guarded
    write_back(context, guarded.new_forms)
    return replace(guarded, messages=context)


def enforce_limits(
    messages: Sequence[Any],
    limits: GuardLimits,
    rules: RuleSet,
    mid_turn: MidTurnCheck | None = None,
) -> Guarded:
    """As ``guard_context``, with the limits given."""
    guard = rules.pruning.guard
    sizes = [loop_message_chars(message, guard.cut.chars) for message in messages]
    before = sum(sizes)
    new, changes = _cut_singles(messages, sizes, limits.single_chars, guard)
    sent: Sequence[Any] = [new.get(i, m) for i, m in enumerate(messages)] if new else messages
    route, fence = _checked_mid_turn(sent, rules, mid_turn)
    total = sum(sizes)
    error = MID_TURN_OVERFLOW_TEXT if route else None
    if error is None and total > limits.total_chars:
        if guard.too_large == "overflow":
            error = OVERFLOW_TEXT
        elif guard.too_large == "compact_oldest":
            needed = total - limits.total_chars
            _, compacted, more = compact_oldest(sent, sizes, needed, guard.cut)
            new, changes = {**new, **compacted}, (*changes, *more)
            sent = [new.get(i, m) for i, m in enumerate(messages)] if new else messages
    last = changes[-1].reason if changes else ""
    decision = guard_decision(limits, before, total, (len(changes), last), error, rules.id)
    return Guarded(sent, changes, decision, new, error, route, fence)


def _cut_singles(
    messages: Sequence[Any], sizes: list[int], limit: float, guard: GuardRules
) -> tuple[dict[int, Any], tuple[Change, ...]]:
    """Results over the limit in their new form; ``sizes`` are brought up to date."""
    new: dict[int, Any] = {}
    changes = []
    for position, size in enumerate(sizes):
        message = messages[position]
        if size > limit and isinstance(message, Mapping) and is_tool_result(message):
            new[position] = cut = cut_tool_result(message, limit, guard.cut)
            sizes[position] = loop_message_chars(cut, guard.cut.chars)
            changes.append(change(position, SOFT_GUARD, message, cut, "single_result_over_limit"))
    return new, tuple(changes)


def _checked_mid_turn(
    messages: Sequence[Any], rules: RuleSet, check: MidTurnCheck | None
) -> tuple[PromptRoute | None, int | None]:
    """The route that stops the call, if any, and the next fence."""
    if check is None or rules.routing is None or not rules.pruning.guard.checks_mid_turn:
        return None, None
    length = len(messages)
    fence = length if check.fence is None else max(0, min(check.fence, length))
    news = messages[fence:]
    if any(isinstance(message, Mapping) and is_tool_result(message) for message in news):
        route = route_prompt(
            rules.routing,
            rules.pruning.recovery,
            rules.id,
            Prompt(messages, system=check.system),
            check.context_tokens,
            check.reserve_tokens,
            check.tool_result_max_chars,
        )
        if route.route != "fits":
            return route, fence
    return None, length


def guard_decision(
    limits: GuardLimits,
    before: int,
    after_cuts: int,
    changes: tuple[int, str],
    error: str | None,
    rule_set: str,
) -> Decision:
    """What became of a context; ``changes``: how many messages were cut, and why the last of them."""
    count, last_reason = changes
    outcome, reason = "pass", "within_limits"
    if error is not None:
        outcome = "overflow"
        reason = "mid_turn_overflow" if error == MID_TURN_OVERFLOW_TEXT else "context_over_limit"
    elif count:
        outcome, reason = "cut", last_reason
    whole = Step("totalLimit", "max(1024, floor(window*4*headroom))", limits.total_chars, "chars")
    return Decision(
        rule=SOFT_GUARD,
        fired=outcome != "pass",
        outcome=outcome,
        reason=reason,
        rule_set=rule_set,
        inputs={"contextChars": before, "changedMessages": count},
        steps=(
            Step("singleLimit", "max(1024, floor(window*2*share))", limits.single_chars, "chars"),
            *((whole,) if math.isfinite(limits.total_chars) else ()),
            Step("afterSingleCuts", "sum of estimates", after_cuts, "chars"),
        ),
    )
