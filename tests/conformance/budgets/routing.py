"""Tool-result limits and the pre-prompt check: ``tool.*`` and ``pre.*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.caps import auto_max_chars, live_max_chars, max_chars
from compaction_app.engine.pruning.recovery import plan_reduction
from compaction_app.engine.pruning.truncate import truncate_text
from compaction_app.engine.route_status import route_status
from compaction_app.engine.routing import (
    Budget,
    Prompt,
    PromptRoute,
    route_prompt,
)
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.budgets.protocol import present
from tests.conformance.pruning.protocol import notice


def _max_chars(args: dict[str, Any], rules: RuleSet) -> Any:
    window, caps = args["contextWindowTokens"], rules.pruning.caps
    return {
        "auto": auto_max_chars(window, caps),
        "max": max_chars(window, caps),
        "live": live_max_chars(window, args.get("cfg"), args.get("agentId"), caps),
    }


def _truncate(args: dict[str, Any], rules: RuleSet) -> Any:
    options = args.get("options", {})
    return truncate_text(
        args["text"],
        args["maxChars"],
        rules.pruning.truncation,
        notice=notice(options.get("suffix")),
        min_keep_chars=options.get("minKeepChars"),
    )


def _reduction(args: dict[str, Any], rules: RuleSet) -> Any:
    plan = plan_reduction(
        args["messages"],
        args["contextWindowTokens"],
        rules.pruning.recovery,
        single_cap_chars=args.get("maxCharsOverride"),
        aggregate_cap_chars=args.get("aggregateMaxCharsOverride"),
    )
    return {
        "maxChars": plan.max_chars,
        "aggregateBudgetChars": plan.aggregate_budget_chars,
        "toolResultCount": plan.tool_result_count,
        "totalToolResultChars": plan.total_tool_result_chars,
        "oversizedCount": plan.oversized_count,
        "oversizedReducibleChars": plan.oversized_reducible_chars,
        "aggregateReducibleChars": plan.aggregate_reducible_chars,
        "maxReducibleChars": plan.max_reducible_chars,
    }


def decide(args: dict[str, Any], rules: RuleSet) -> Any:
    assert rules.routing is not None
    prompt = Prompt(
        args["messages"],
        args["prompt"],
        args.get("systemPrompt"),
        boundary=args.get("llmBoundaryTokenPressure"),
        unwindowed=args.get("unwindowedMessages"),
        tool_schema_tokens=args.get("toolSchemaTokens", 0),
    )
    route = route_prompt(
        rules.routing,
        rules.pruning.recovery,
        rules.id,
        prompt,
        args["contextTokenBudget"],
        args["reserveTokens"],
        args.get("toolResultMaxChars"),
    )
    return _fields(route)


def _fields(route: PromptRoute) -> dict[str, Any]:
    return present(
        route=route.route,
        shouldCompact=route.should_compact,
        estimatedPromptTokens=route.estimated_prompt_tokens,
        pressureSource=route.source,
        promptBudgetBeforeReserve=route.budget.prompt,
        overflowTokens=route.overflow_tokens,
        toolResultReducibleChars=route.reducible_chars,
        effectiveReserveTokens=route.budget.effective_reserve,
    )


def _status(args: dict[str, Any], rules: RuleSet) -> Any:
    given = args["result"]
    prompt, reserve = given["promptBudgetBeforeReserve"], given["effectiveReserveTokens"]
    status = route_status(
        PromptRoute(
            route=given["route"],
            estimated_prompt_tokens=given["estimatedPromptTokens"],
            source=given.get("pressureSource"),
            budget=Budget(prompt + reserve, reserve, 0, reserve, prompt),
            overflow_tokens=given["overflowTokens"],
            reducible_chars=given["toolResultReducibleChars"],
            decision=Decision("prompt_route", False, given["route"], "given", rules.id),
        ),
        now_ms=args["now"],
        provider=args["provider"],
        model=args["modelId"],
        context_tokens=args["contextTokenBudget"],
        reserve_tokens=args["reserveTokens"],
        message_count=args["messageCount"],
        unwindowed_message_count=args.get("unwindowedMessageCount"),
        session_id=args.get("sessionId"),
    )
    return present(
        **_fields(status.route),
        schemaVersion=status.schema_version,
        source=status.source,
        updatedAt=status.updated_at_ms,
        provider=status.provider,
        model=status.model,
        contextTokenBudget=status.context_tokens,
        reserveTokens=status.reserve_tokens,
        remainingPromptBudgetTokens=status.remaining_tokens,
        messageCount=status.message_count,
        unwindowedMessageCount=status.unwindowed_message_count,
        sessionId=status.session_id,
    )


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "tool.maxChars": _max_chars,
    "tool.truncateText": _truncate,
    "tool.reduction": _reduction,
    "pre.decide": decide,
    "pre.status": _status,
}
