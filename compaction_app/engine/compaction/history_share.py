"""How much of a history may go into a summary: the oldest parts go first (spec compaction 1.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction_app.engine.compaction.chunks import (
    DEFAULT_PARTS,
    normalise_parts,
    split_by_token_share,
)
from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.pruning.pairing import repair_pairing
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import messages_tokens

if TYPE_CHECKING:
    from compaction_app.engine.compaction.versions import CompactionRules

DEFAULT_SHARE = 0.5
HANDOFF_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class HistoryShareRules:
    """``handoff_share``: the share of a history that is handed over to another agent."""

    handoff_share: float


HISTORY_SHARE_2026_3 = HistoryShareRules(handoff_share=DEFAULT_SHARE)
HISTORY_SHARE_2026_5_28 = HistoryShareRules(handoff_share=HANDOFF_SHARE)


@dataclass(frozen=True, slots=True)
class PrunedHistory:
    """The history within its budget, as far as it could be split, and what was dropped.

    ``dropped_messages`` counts also the results that lost their call; they are not in ``dropped``
    nor in ``dropped_tokens``.
    """

    messages: Sequence[Message]
    dropped: tuple[Message, ...]
    dropped_chunks: int
    dropped_messages: int
    dropped_tokens: int
    kept_tokens: int
    budget_tokens: int


def history_share(share: float | None, mode: str | None, rules: HistoryShareRules) -> float:
    """The share that applies: the given one, else the default of the mode."""
    if share is not None:
        return share
    return rules.handoff_share if mode == "handoff" else DEFAULT_SHARE


def prune_history(
    messages: Sequence[Message],
    max_context_tokens: float,
    share: float,
    rules: CompactionRules,
    now_ms: float,
    parts: float = DEFAULT_PARTS,
) -> PrunedHistory:
    """Drop the oldest part of the history until it fits its share of the window.

    What remains is put in order after each step; error results made then may be dropped later.
    """
    budget = int(max(1, js.floor(max_context_tokens * share)))
    count = normalise_parts(parts, len(messages))
    kept = messages
    dropped: list[Message] = []
    chunks = orphans = 0
    while kept and messages_tokens(kept, rules.chunks.tokens) > budget:
        split = split_by_token_share(kept, count, rules.chunks)
        if len(split) <= 1:
            break
        dropped.extend(kept[: split[0].end])
        repaired = repair_pairing(kept[split[0].end :], rules.pairing, now_ms)
        kept = repaired.messages
        chunks += 1
        orphans += repaired.dropped_orphans
    return PrunedHistory(
        messages=kept,
        dropped=tuple(dropped),
        dropped_chunks=chunks,
        dropped_messages=len(dropped) + orphans,
        dropped_tokens=messages_tokens(dropped, rules.chunks.tokens),
        kept_tokens=messages_tokens(kept, rules.chunks.tokens),
        budget_tokens=budget,
    )
