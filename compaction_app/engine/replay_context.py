"""What a what-if keeps between turns: the context, and the counters the gates read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.replay_flushes import FlushSize
from sessions_app.tokens.message_tokens import CHARS_PER_TOKEN
from sessions_app.transcripts.session_index import IndexRules, record_flush

COMPACTION_BYTES: Final = 250
"""About what a compaction's line takes besides its summary."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A compaction of the rows from ``start`` up to ``end``: those from ``kept`` on stay as they were."""

    start: int
    kept: int
    end: int


@dataclass(slots=True)
class Context:
    """The context as it stands: a summary and the rows from ``start`` on; ``cuts`` is how it came there.

    ``billed_end`` is the row behind the last answer; ``has_bill``: no compaction came after it.
    ``flushes`` are the flush turns in it, each with the row that it stands before; ``own_bytes`` what
    the what-if has written beside the recording's rows.
    """

    start: int = 0
    summary_tokens: int = 0
    summary_weight: float = 0.0
    compactions: int = 0
    flushed_count: int | None = None
    stored_total: int | None = None
    last_prompt: int | None = None
    last_output: int = 0
    compacted_at: int | None = None
    billed_end: int | None = None
    has_bill: bool = False
    flushes: list[tuple[int, FlushSize]] = field(default_factory=list)
    own_bytes: int = 0
    cuts: list[Cut] = field(default_factory=list)

    def cut(self, kept: int, end: int, summary_tokens: int, density: float) -> None:
        """Go on from the row ``kept``, behind a summary of so many estimated tokens."""
        self.cuts.append(Cut(self.start, kept, end))
        self.start = kept
        self.summary_tokens = summary_tokens
        self.summary_weight = summary_tokens * density
        self.flushes = [flush for flush in self.flushes if flush[0] > kept]
        self.own_bytes += COMPACTION_BYTES + CHARS_PER_TOKEN * summary_tokens
        self.compactions += 1
        self.has_bill = False

    def unbilled(self, left: int | None) -> None:
        """A call was answered that nobody billed: what the index knew is out of date, but for what a
        compaction in the same run left."""
        self.stored_total, self.last_prompt = left, None

    def billed(self, prompt: int, output: int, end: int) -> None:
        """A call was answered; ``end`` is the row behind its answer."""
        self.last_prompt = self.stored_total = prompt
        self.last_output, self.billed_end, self.has_bill = output, end, True

    def flush(self, place: int, size: FlushSize) -> None:
        """A flush turn before the row ``place``."""
        self.flushes.append((place, size))
        self.own_bytes += size.bytes

    @property
    def flush_tokens(self) -> int:
        """Estimated tokens of the flush turns in the context."""
        return sum(size.tokens for _, size in self.flushes)

    @property
    def flush_pressure(self) -> int:
        """The same as the pre-prompt check weighs them."""
        return sum(size.pressure for _, size in self.flushes)

    def entry(self, rules: IndexRules) -> dict[str, Any]:
        """The session's entry in the store, as the gates of a version read it."""
        entry = {
            "totalTokens": self.stored_total,
            "compactionCount": self.compactions,
            **rules.fresh_fields,
        }
        return (
            entry
            if self.flushed_count is None
            else record_flush(entry, 0, self.flushed_count, rules)
        )
