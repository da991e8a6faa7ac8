"""How messages are measured and split into chunks (spec compaction 1.2, 1.3, 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compaction_app.engine.compaction import chunks
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import message_tokens

Args = dict[str, Any]


def _ranges(found: Iterable[chunks.Chunk]) -> list[list[int]]:
    return [list(range(chunk.start, chunk.end)) for chunk in found]


def _estimate_context(args: Args, rules: RuleSet) -> Any:
    found = message_tokens.context_tokens(args["messages"], rules.message_tokens)
    return {
        "tokens": found.tokens,
        "usageTokens": found.usage_tokens,
        "trailingTokens": found.trailing_tokens,
        "lastUsageIndex": found.last_usage_index,
    }


def _split(args: Args, rules: RuleSet) -> Any:
    parts = args.get("parts", chunks.DEFAULT_PARTS)
    found = chunks.split_by_token_share(args["messages"], parts, rules.compaction.chunks)
    return _ranges(found)


def _estimate(args: Args, rules: RuleSet) -> Any:
    try:
        return message_tokens.message_tokens(args["message"], rules.message_tokens)
    except TypeError:
        return {"$error": "TypeError: Cannot read properties of undefined (reading 'length')"}


FUNCTIONS = {
    "estimateTokens": _estimate,
    "estimateMessagesTokens": lambda a, r: message_tokens.messages_tokens(
        a["messages"], r.message_tokens
    ),
    "estimateContextTokens": _estimate_context,
    "computeAdaptiveChunkRatio": lambda a, r: round(
        chunks.adaptive_chunk_ratio(a["messages"], a["contextWindow"], r.compaction.chunks), 12
    ),
    "isOversizedForSummary": lambda a, r: chunks.is_oversized(
        a["message"], a["contextWindow"], r.compaction.chunks
    ),
    "normalizeParts": lambda a, _: chunks.normalise_parts(a["parts"], a["messageCount"]),
    "splitMessagesByTokenShare": _split,
    "chunkMessagesByMaxTokens": lambda a, r: _ranges(
        chunks.chunk_by_max_tokens(a["messages"], a["maxTokens"], r.compaction.chunks)
    ),
    "resolveContextWindowTokens": lambda a, r: chunks.summary_window(
        a["model"], r.compaction.chunks
    ),
}
