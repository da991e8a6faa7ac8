"""The estimators: ``est.*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import loop_chars, message_tokens, pressure


def _context_tokens(args: dict[str, Any], rules: RuleSet) -> Any:
    found = message_tokens.context_tokens(args["messages"], rules.message_tokens)
    return {
        "tokens": found.tokens,
        "usageTokens": found.usage_tokens,
        "trailingTokens": found.trailing_tokens,
        "lastUsageIndex": found.last_usage_index,
    }


FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    "est.tokens": lambda a, r: message_tokens.message_tokens(a["message"], r.message_tokens),
    "est.messagesTokens": lambda a, r: message_tokens.messages_tokens(
        a["messages"], r.message_tokens
    ),
    "est.contextTokens": _context_tokens,
    "est.usageTokens": lambda a, r: message_tokens.usage_tokens(a["usage"]),
    "est.stringChars": lambda a, r: r.pressure.weight(a["text"]),
    "est.tokensFromChars": lambda a, r: pressure.tokens_from_chars(a["chars"]),
    "est.messagePressure": lambda a, r: pressure.message_pressure(a["message"], r.pressure),
    "est.prePrompt": lambda a, r: r.routing.estimate(
        a["messages"], a["prompt"], a.get("systemPrompt")
    ),
    "est.renderedBoundary": lambda a, r: pressure.rendered_boundary_pressure(
        a["prompt"], a.get("systemPrompt")
    ),
    "est.loopMessageChars": lambda a, r: loop_chars.loop_message_chars(a["message"], r.loop_chars),
}
