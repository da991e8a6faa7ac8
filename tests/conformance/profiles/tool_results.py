"""Golden cases of the early versions' soft guard and history images (spec profiles 2 and 6)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from compaction_app.engine.pruning import (
    compact_results,
    guard,
    history_images,
    soft_cut,
    truncation_rules,
)
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js
from sessions_app.tokens.loop_chars import loop_message_chars
from tests.conformance.pruning.protocol import by_equality, by_position
from tests.conformance.pruning.soft_guard import guard_step


def _measured(text: str) -> dict[str, Any]:
    return {"text": text, "len16": js.utf16_len(text)}


def constants(_args: dict[str, Any], rules: RuleSet) -> Any:
    return {
        "TRUNCATION_SUFFIX": _measured(rules.pruning.truncation.notice(1)),
        "GUARD_TRUNCATION_SUFFIX": _measured(rules.pruning.truncation.persist_notice(1)),
        "MIDDLE_OMISSION_MARKER": _measured(truncation_rules.MIDDLE_MARKER),
        "HARD_MAX_TOOL_RESULT_CHARS": rules.pruning.caps.base_chars,
        "CONTEXT_LIMIT_TRUNCATION_NOTICE": _measured(soft_cut.FIXED_NOTICE),
        "CONTEXT_LIMIT_TRUNCATION_SUFFIX": _measured(f"\n{soft_cut.FIXED_NOTICE}"),
        "PLACEHOLDER": _measured(compact_results.PLACEHOLDER),
    }


def enforce(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    before, objects = copy.deepcopy(messages), list(messages)
    limits = guard.GuardLimits(
        single_chars=args["maxSingleToolResultChars"], total_chars=args["contextBudgetChars"]
    )
    done = guard.enforce_limits(messages, limits, rules)
    compact_results.write_back(messages, done.new_forms)
    return {
        "sameObjects": all(one is other for one, other in zip(messages, objects, strict=True)),
        "messages": by_equality(messages, before),
    }


def compact(args: dict[str, Any], rules: RuleSet) -> Any:
    messages, cut = args["messages"], rules.pruning.guard.cut
    before = copy.deepcopy(messages)
    sizes = [loop_message_chars(message, cut.chars) for message in messages]
    gained, new, _ = compact_results.compact_oldest(messages, sizes, args["charsNeeded"], cut)
    compact_results.write_back(messages, new)
    return {"reduced": gained, "messages": by_equality(messages, before)}


def guard_in_place(args: dict[str, Any], rules: RuleSet) -> Any:
    rows = []
    carried: list[Any] = []
    for step in args["steps"]:
        given = [*carried, *step["messages"]]
        before = copy.deepcopy(given)
        done = guard_step(given, args, rules, None)
        carried = given if args.get("carry") else []
        if done.error is not None:
            rows.append({"error": done.error})
            continue
        rows.append(
            {
                "same": done.messages is given,
                "inputUntouched": given == before,
                "messages": by_equality(done.messages, before),
            }
        )
    return {"steps": rows, "restored": True}


def images_in_place(args: dict[str, Any], rules: RuleSet) -> Any:
    messages = args["messages"]
    before = copy.deepcopy(messages)
    done = history_images.prune_history_images(messages, rules.pruning.history_images)
    compact_results.write_back(messages, done.new_forms)
    return {"returned": bool(done.new_forms), "messages": by_position(messages, before)}


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "constants": constants,
    "enforceToolResultContextBudgetInPlace": enforce,
    "compactExistingToolResultsInPlace": compact,
    "toolResultContextGuardInPlace": guard_in_place,
    "historyImagesInPlace": images_in_place,
}
