"""Is a reply of the gateway the apology for a context that stayed too large? (spec budgets 6.6)"""

from __future__ import annotations

from typing import Final

_BEGINNINGS: Final = (
    "Context overflow:",
    "Context limit exceeded",
    "Auto-compaction could not recover",
    "Context is too large",
)


def is_overflow_reply(text: str) -> bool:
    """Whether the text says so in one of the runtime's wordings, marks before it aside."""
    return any(beginning in text for beginning in _BEGINNINGS)
