"""Golden cases of the soft guard before a model call (spec pruning 10)."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from compaction_app.engine.pruning import guard, soft_cut
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens.loop_chars import loop_message_chars
from sessions_app.tokens.pressure import message_pressure
from tests.conformance.budgets import routing
from tests.conformance.pruning.protocol import Adapter, by_position, encode, one


def inner_transform(kind: str | None) -> guard.Transform | None:
    """The transform that runs before the guard: it drops the first message, or answers no list."""
    if kind is None:
        return None
    return (lambda messages: messages[1:]) if kind == "dropFirst" else (lambda messages: None)


def guard_step(
    given: list[Any], args: dict[str, Any], rules: RuleSet, check: guard.MidTurnCheck | None
) -> guard.Guarded:
    """One model call; in versions whose guard works in place, ``given`` is changed."""
    return guard.guard_context(
        given,
        args["contextWindowTokens"],
        rules,
        previous=inner_transform(args.get("inner")),
        mid_turn=check,
        in_place=True,
    )


def _mid_turn(args: dict[str, Any]) -> guard.MidTurnCheck | None:
    given = args.get("midTurnPrecheck") or {}
    if not given.get("enabled"):
        return None
    return guard.MidTurnCheck(
        context_tokens=given["contextTokenBudget"],
        reserve_tokens=given["reserveTokens"],
        tool_result_max_chars=given.get("toolResultMaxChars"),
        system=given.get("systemPrompt"),
        fence=given.get("prePromptMessageCount"),
    )


def _failure(done: guard.Guarded) -> dict[str, Any]:
    route = done.mid_turn
    if route is None:
        return {"error": done.error}
    return {
        "error": f"MidTurnPrecheckSignal: {done.error}",
        "request": {
            "route": route.route,
            "estimatedPromptTokens": route.estimated_prompt_tokens,
            "promptBudgetBeforeReserve": route.budget.prompt,
            "overflowTokens": route.overflow_tokens,
            "toolResultReducibleChars": route.reducible_chars,
            "effectiveReserveTokens": route.budget.effective_reserve,
        },
    }


def run_guard(args: dict[str, Any], rules: RuleSet) -> Any:
    check = _mid_turn(args)
    rows = []
    for step in args["steps"]:
        given = step["messages"]
        before = copy.deepcopy(given)
        done = guard_step(given, args, rules, check)
        if check is not None:
            check = replace(check, fence=done.fence)
        if done.error is not None:
            rows.append(_failure(done))
            continue
        rows.append(
            {
                "same": done.messages is given,
                "inputUntouched": given == before,
                "messages": by_position(done.messages, given),
            }
        )
    # Nothing is installed that would have to be taken back: the guard is called, not hung in.
    return {"steps": rows, "restored": True}


def cut_result(args: dict[str, Any], rules: RuleSet) -> Any:
    message = args["message"]
    return one(
        soft_cut.cut_tool_result(message, args["maxChars"], rules.pruning.guard.cut), message
    )


def decide_route(args: dict[str, Any], rules: RuleSet) -> Any:
    return encode(routing.decide(args, rules))


FUNCTIONS: dict[str, Adapter] = {
    "guardEstimateMessageChars": lambda a, r: loop_message_chars(
        a["message"], r.pruning.guard.cut.chars
    ),
    "guardEstimateContextChars": lambda a, r: sum(
        loop_message_chars(m, r.pruning.guard.cut.chars) for m in a["messages"]
    ),
    "truncateTextToBudget": lambda a, r: encode(
        soft_cut.cut_text(a["text"], a["maxChars"], r.pruning.guard.cut)
    ),
    "truncateToolResultToChars": cut_result,
    "toolResultContextGuard": run_guard,
    "estimateMessageTokenPressure": lambda a, r: message_pressure(a["message"], r.pressure),
    "shouldPreemptivelyCompactBeforePrompt": decide_route,
}
