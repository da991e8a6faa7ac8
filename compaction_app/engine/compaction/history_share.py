"""How much of a history may go into a summary: the oldest parts go first (spec compaction 1.6)."""

from __future__ import annotations

import math
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
    """``handoff_share``: the share of a history that is handed over to another agent;
    ``default_share`` the one where the caller names none. None: there is no default, and such a call
    drops all it can. ``lists_all``: what was dropped is listed in the order of the history, orphaned
    results included, and error results made on the way behind it.
    """

    handoff_share: float | None
    default_share: float | None = DEFAULT_SHARE
    lists_all: bool = False


HISTORY_SHARE_2026_3 = HistoryShareRules(handoff_share=DEFAULT_SHARE)
HISTORY_SHARE_2026_5_28 = HistoryShareRules(handoff_share=HANDOFF_SHARE)
HISTORY_SHARE_2026_9 = HistoryShareRules(handoff_share=None, default_share=None, lists_all=True)


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
    budget_tokens: int | float


def history_share(share: float | None, mode: str | None, rules: HistoryShareRules) -> float:
    """The share that applies: the given one, else the default of the mode."""
    if share is not None:
        return share
    default = rules.handoff_share if mode == "handoff" else rules.default_share
    return math.nan if default is None else default


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
    budget = js.maximum(1, js.floor(max_context_tokens * share))
    count = normalise_parts(parts, len(messages))
    kept = messages
    dropped: list[Message] = []
    chunks = orphans = 0
    while kept and not messages_tokens(kept, rules.chunks.tokens) <= budget:
        split = split_by_token_share(kept, count, rules.chunks)
        if len(split) <= 1:
            break
        dropped.extend(kept[: split[0].end])
        repaired = repair_pairing(kept[split[0].end :], rules.pairing, now_ms)
        kept = repaired.messages
        chunks += 1
        orphans += repaired.dropped_orphans
    if rules.history_share.lists_all:
        dropped, orphans = _all_dropped(messages, kept, dropped), 0
    return PrunedHistory(
        messages=kept,
        dropped=tuple(dropped),
        dropped_chunks=chunks,
        dropped_messages=len(dropped) + orphans,
        dropped_tokens=messages_tokens(dropped, rules.chunks.tokens),
        kept_tokens=messages_tokens(kept, rules.chunks.tokens),
        budget_tokens=budget,
    )


def _all_dropped(
    messages: Sequence[Message], kept: Sequence[Message], dropped: Sequence[Message]
) -> list[Message]:
    """Everything that is not kept: the history's own messages in order, then those made meanwhile."""
    left, own = {id(message) for message in kept}, {id(message) for message in messages}
    return [
        *(message for message in messages if id(message) not in left),
        *(message for message in dropped if id(message) not in own),
    ]
