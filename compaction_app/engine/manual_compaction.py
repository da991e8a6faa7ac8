"""What does ``/compact`` work with, and when does it refuse? (spec budgets 6.5)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js

ABORT_WAIT_MS: Final = 15_000
"""How long a manual compaction waits for a running agent that it has aborted."""

ALREADY_COMPACTED: Final = "Already compacted"
NOTHING_TO_COMPACT: Final = "Nothing to compact (session too small)"


def manual_budget(
    live: int | float | None, configured: int | float | None, session: int | float | None
) -> int | float | None:
    """The window in tokens: the lesser of the known ones, rounded down, else the session's own."""
    known = [value for value in (live, configured) if value is not None]
    return js.floor(min(known)) if known else session


def refusal(last_entry: Mapping[str, Any] | None) -> str:
    """Why nothing is compacted where no cut is possible."""
    is_compaction = last_entry is not None and last_entry.get("type") == "compaction"
    return ALREADY_COMPACTED if is_compaction else NOTHING_TO_COMPACT
