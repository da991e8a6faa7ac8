"""In which portions messages go to the summariser (spec compaction 1.1 to 1.3).

A portion is a range of the list it was cut from, so that the records can say what went where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from compaction_app.engine.pruning.tool_calls import (
    TOOL_CALLS_2026_4_20,
    TOOL_CALLS_2026_5_28,
    TOOL_CALLS_2026_9,
    ToolCallRules,
    result_id,
    tool_calls,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens import message_tokens
from sessions_app.tokens.message_tokens import MessageTokenRules, messages_tokens

Message = Mapping[str, Any]

BASE_CHUNK_RATIO = 0.4
MIN_CHUNK_RATIO = 0.15
MAX_RATIO_REDUCTION = 0.25
LARGE_MESSAGE_RATIO = 0.1
"""From this share of the window on, the average message makes the chunks smaller."""
OVERSIZED_RATIO = 0.5
SAFETY_MARGIN = 1.2
SUMMARY_OVERHEAD_TOKENS = 4096
DEFAULT_PARTS = 2
DEFAULT_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """How messages are measured and split.

    ``pairs``: a split by token share moves its boundary in front of an open call, recognised by
    these rules; none where a call may be parted from its result. ``window_fields`` are the fields of
    a model that name its window, the first one present counts.
    """

    tokens: MessageTokenRules
    pairs: ToolCallRules | None
    window_fields: tuple[str, ...] = ("contextTokens", "contextWindow")


CHUNKS_2026_3 = ChunkRules(message_tokens.OPENCLAW_2026_3, None, ("contextWindow",))
CHUNKS_2026_4_20 = ChunkRules(message_tokens.OPENCLAW_2026_4_20, TOOL_CALLS_2026_4_20)
CHUNKS_2026_5_28 = ChunkRules(message_tokens.OPENCLAW_2026_5_28, TOOL_CALLS_2026_5_28)
CHUNKS_2026_9 = ChunkRules(message_tokens.OPENCLAW_2026_9, TOOL_CALLS_2026_9)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The messages ``start`` to ``end`` (not included) of a list, and their estimated tokens."""

    start: int
    end: int
    tokens: int


def estimated_tokens(messages: Iterable[Message], rules: ChunkRules) -> list[int]:
    """The tokens of each message as a sum counts them."""
    return [messages_tokens((message,), rules.tokens) for message in messages]


def normalise_parts(parts: float, message_count: int) -> int:
    """How many parts a list can be split into: a whole number from 1 to its length."""
    if not js.is_finite(parts) or parts <= 1:
        return 1
    return min(max(1, int(parts)), max(1, message_count))


def split_by_token_share(
    messages: Sequence[Message], parts: float, rules: ChunkRules
) -> list[Chunk]:
    """Split into parts of about equal tokens, a call and its results staying in one part.

    A boundary that would fall behind an unanswered call is moved in front of it once the results are
    in; so there may be fewer parts than asked for.
    """
    costs = estimated_tokens(messages, rules)
    count = normalise_parts(parts, len(messages))
    if not messages:
        return []
    if count == 1:
        return [Chunk(0, len(messages), sum(costs))]
    split = _Split(costs, sum(costs) / count, count)
    for index, message in enumerate(messages):
        split.before(index)
        if rules.pairs is not None:
            split.after(index, message, rules.pairs)
    if split.pending:
        split.before_open_call(len(messages) - 1)
    bounds = pairwise((*split.bounds, len(messages)))
    return [Chunk(start, end, sum(costs[start:end])) for start, end in bounds]


class _Split:
    """The walk over a list: where parts begin, and which calls of the current one are unanswered."""

    def __init__(self, costs: Sequence[int], target: float, parts: int) -> None:
        self.costs = costs
        self.target = target
        self.parts = parts
        self.bounds = [0]
        self.current = 0
        self.pending: set[str] = set()
        self.call_index: int | None = None

    def before(self, index: int) -> None:
        cost = self.costs[index]
        begun = index > self.bounds[-1]
        if not self.pending and self._may_split and begun and self.current + cost > self.target:
            self._begin(index)
        self.current += cost

    def after(self, index: int, message: Message, rules: ToolCallRules) -> None:
        if message.get("role") == "assistant":
            failed = message.get("stopReason") in ("aborted", "error")
            self.pending = set() if failed else {call.id for call in tool_calls(message)}
            self.call_index = index if self.pending else None
        elif message.get("role") == "toolResult" and self.pending:
            answered = result_id(message, rules)
            if answered is None:
                self.pending, self.call_index = set(), None
            self.pending.discard(answered or "")
            if not self.pending:
                self.before_open_call(index)

    def before_open_call(self, index: int) -> None:
        """Begin a part with the last call, when the current part has grown too long by ``index``."""
        start = self.call_index
        if self._may_split and self.current > self.target and (start or 0) > self.bounds[-1]:
            self._begin(start or 0)
            self.current = sum(self.costs[self.bounds[-1] : index + 1])

    @property
    def _may_split(self) -> bool:
        return len(self.bounds) < self.parts

    def _begin(self, index: int) -> None:
        self.bounds.append(index)
        self.current = 0
        self.call_index = None


def chunk_by_max_tokens(
    messages: Sequence[Message], max_tokens: float, rules: ChunkRules
) -> list[Chunk]:
    """Chunks for one model call each, with a safety margin; a giant message stands alone.

    Calls may be parted from their results here.
    """
    limit = max(1, js.floor(max_tokens / SAFETY_MARGIN))
    chunks: list[Chunk] = []
    start = current = 0
    for index, cost in enumerate(estimated_tokens(messages, rules)):
        if index > start and current + cost > limit:
            chunks.append(Chunk(start, index, current))
            start, current = index, 0
        current += cost
        if cost > limit:
            chunks.append(Chunk(start, index + 1, current))
            start, current = index + 1, 0
    if start < len(messages):
        chunks.append(Chunk(start, len(messages), current))
    return chunks


def adaptive_chunk_ratio(messages: Sequence[Message], window: float, rules: ChunkRules) -> float:
    """The share of the window one chunk may fill: the larger the messages, the smaller."""
    if not messages:
        return BASE_CHUNK_RATIO
    average = messages_tokens(messages, rules.tokens) / len(messages) * SAFETY_MARGIN / window
    if average <= LARGE_MESSAGE_RATIO:
        return BASE_CHUNK_RATIO
    return max(MIN_CHUNK_RATIO, BASE_CHUNK_RATIO - min(average * 2, MAX_RATIO_REDUCTION))


def chunk_tokens(messages: Sequence[Message], window: float, rules: ChunkRules) -> int:
    """The most tokens of a chunk: its share of the window less what the prompt itself needs."""
    ratio = adaptive_chunk_ratio(messages, window, rules)
    return int(max(1, js.floor(window * ratio) - SUMMARY_OVERHEAD_TOKENS))


def is_oversized(message: Message, window: float, rules: ChunkRules) -> bool:
    """Whether one message fills more than half of the window, so that it cannot be summarised."""
    return messages_tokens((message,), rules.tokens) * SAFETY_MARGIN > window * OVERSIZED_RATIO


def summary_window(model: Mapping[str, Any], rules: ChunkRules) -> int | float:
    """The window of the summarising model; an explicit 0 counts as 1 (spec compaction 1.3)."""
    values = (*(model.get(name) for name in rules.window_fields), DEFAULT_WINDOW)
    return js.maximum(1, js.floor(next(value for value in values if value is not None)))
