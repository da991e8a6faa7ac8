"""Golden cases of the soft guard before a model call (spec pruning 10)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from compaction_app.engine.pruning import guard, soft_cut
from compaction_app.engine.pruning.compact_results import write_back
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens.loop_chars import loop_message_chars
from tests.conformance.pruning.protocol import Adapter, by_position, encode, one

Inner = Callable[[list[Any]], list[Any]]


def inner_transform(kind: str | None) -> Inner:
    """The transform that runs before the guard; one that answers no list is passed over."""
    return (lambda messages: messages[1:]) if kind == "dropFirst" else (lambda messages: messages)


def guard_step(
    given: list[Any], args: dict[str, Any], rules: RuleSet, check: guard.MidTurnCheck | None
) -> guard.Guarded:
    """One model call; in versions whose guard works in place, ``given`` is changed."""
    messages = inner_transform(args.get("inner"))(given)
    done = guard.guard_context(messages, args["contextWindowTokens"], rules, check)
    if rules.pruning.guard.sticks:
        write_back(messages, done.new_forms)
    return done


def run_guard(args: dict[str, Any], rules: RuleSet) -> Any:
    rows = []
    for step in args["steps"]:
        given = step["messages"]
        before = copy.deepcopy(given)
        done = guard_step(given, args, rules, None)
        if done.error is not None:
            rows.append({"error": done.error})
            continue
        rows.append(
            {
                "same": done.messages is given,
                "inputUntouched": given == before,
                "messages": by_position(done.messages, given),
            }
        )
    return {"steps": rows, "restored": True}


def cut_result(args: dict[str, Any], rules: RuleSet) -> Any:
    message = args["message"]
    return one(
        soft_cut.cut_tool_result(message, args["maxChars"], rules.pruning.guard.cut), message
    )


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
}
