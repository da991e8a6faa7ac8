"""Golden cases of truncation, caps and reduction (spec pruning 3-6)."""

from __future__ import annotations

import math
from typing import Any

from compaction_app.engine.pruning import caps, recovery, truncate, truncation_rules
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js
from tests.conformance.pruning.protocol import Adapter, by_position, encode, notice, one


def constants(_args: dict[str, Any], _rules: RuleSet) -> Any:
    return {
        "MIDDLE_OMISSION_MARKER": truncation_rules.MIDDLE_MARKER,
        "markerLength": js.utf16_len(truncation_rules.MIDDLE_MARKER),
        "notice1": truncation_rules.narrower_args_notice(1),
        "recovery1": truncation_rules.recovery_notice(1),
    }


def _options(args: dict[str, Any]) -> dict[str, Any]:
    return {
        "notice": notice(args.get("suffix")),
        "min_keep_chars": args.get("minKeepChars"),
        "unit_weight": args.get("minimumRawWeight", 1),
    }


def truncate_text(args: dict[str, Any], rules: RuleSet) -> Any:
    truncation = rules.pruning.truncation
    return encode(
        truncate.truncate_text(args["text"], args["maxChars"], truncation, **_options(args))
    )


def truncate_message(args: dict[str, Any], rules: RuleSet) -> Any:
    message, truncation = args["message"], rules.pruning.truncation
    cut = truncate.truncate_message(message, args["maxChars"], truncation, **_options(args))
    return one(cut, message)


def cap_message(args: dict[str, Any], rules: RuleSet) -> Any:
    pruning = rules.pruning
    cap = args["maxChars"] if pruning.caps.from_window else pruning.caps.base_chars
    return one(truncate.cap_message(args["message"], cap, pruning.truncation), args["message"])


def storing_max_chars(args: dict[str, Any], rules: RuleSet) -> Any:
    """Written as plain JSON, which has no NaN and no infinity."""
    chars = caps.storing_max_chars(args.get("opts") or {}, rules.pruning.caps)
    return chars if math.isfinite(chars) else None


def _plan(args: dict[str, Any], rules: RuleSet) -> recovery.ReductionPlan:
    return recovery.plan_reduction(
        args["messages"],
        args["contextWindowTokens"],
        rules.pruning.recovery,
        single_cap_chars=args.get("maxCharsOverride"),
        aggregate_cap_chars=args.get("aggregateMaxCharsOverride"),
    )


def reduction_potential(args: dict[str, Any], rules: RuleSet) -> Any:
    plan = _plan(args, rules)
    return encode(
        {
            "maxChars": plan.max_chars,
            "aggregateBudgetChars": plan.aggregate_budget_chars,
            "toolResultCount": plan.tool_result_count,
            "totalToolResultChars": plan.total_tool_result_chars,
            "oversizedCount": plan.oversized_count,
            "oversizedReducibleChars": plan.oversized_reducible_chars,
            "aggregateReducibleChars": plan.aggregate_reducible_chars,
            "maxReducibleChars": plan.max_reducible_chars,
        }
    )


def truncate_list(args: dict[str, Any], rules: RuleSet) -> Any:
    cut = recovery.truncate_tool_results(
        args["messages"],
        args["contextWindowTokens"],
        rules.pruning.recovery,
        single_cap_chars=args.get("maxCharsOverride"),
        aggregate_cap_chars=args.get("aggregateMaxCharsOverride"),
    )
    return {
        "same": cut.messages is args["messages"],
        "truncatedCount": cut.truncated_count,
        "messages": by_position(cut.messages, args["messages"]),
    }


FUNCTIONS: dict[str, Adapter] = {
    "constants": constants,
    "formatContextLimitTruncationNotice": lambda a, r: r.pruning.truncation.notice(a["count"]),
    "compactRecoverySuffix": lambda a, r: truncation_rules.recovery_notice(a["count"]),
    "hasImportantTail": lambda a, r: truncation_rules.has_important_tail(a["text"]),
    "truncateToolResultText": truncate_text,
    "truncateToolResultMessage": truncate_message,
    "capToolResultSize": cap_message,
    "getToolResultTextLength": lambda a, r: truncate.tool_result_text_chars(
        a["message"], r.pruning.truncation
    ),
    "calculateMaxToolResultChars": lambda a, r: encode(
        caps.max_chars(a["contextWindowTokens"], r.pruning.caps)
    ),
    "resolveAutoLiveToolResultMaxChars": lambda a, r: encode(
        caps.auto_max_chars(a["contextWindowTokens"], r.pruning.caps)
    ),
    "calculateMaxToolResultCharsWithCap": lambda a, r: encode(
        caps.share_of_window(a["contextWindowTokens"], a["cap"])
    ),
    "resolveLiveToolResultMaxChars": lambda a, r: encode(
        caps.live_max_chars(
            a["contextWindowTokens"], a.get("cfg"), a.get("agentId"), r.pruning.caps
        )
    ),
    "resolveMaxToolResultChars": storing_max_chars,
    "estimateToolResultReductionPotential": reduction_potential,
    "sessionLikelyHasOversizedToolResults": lambda a, r: _plan(a, r).likely_oversized,
    "truncateOversizedToolResultsInMessages": truncate_list,
}
