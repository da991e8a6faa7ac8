"""What a what-if keeps between turns: the context, and the counters the gates read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Context:
    """The context as it stands: a summary and the rows from ``start`` on."""

    start: int = 0
    summary_tokens: int = 0
    summary_weight: float = 0.0
    compactions: int = 0
    flushed_count: int | None = None
    stored_total: int | None = None
    last_prompt: int | None = None
    last_output: int = 0
    compacted_at: int | None = None

    def entry(self) -> dict[str, Any]:
        """The session's entry in the store, as the gates read it."""
        return {
            "totalTokens": self.stored_total,
            "totalTokensFresh": True,
            "compactionCount": self.compactions,
            "memoryFlushCompactionCount": self.flushed_count,
        }
