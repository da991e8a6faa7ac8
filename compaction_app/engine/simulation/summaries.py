"""Which summaries the compactions of a what-if on real messages are given.

Where sizes are chosen, or the cap is, a text of that size stands for each: only its size is meant. The
recorded ones come in their order, then the one of median size. Where none is given, whoever drives the
what-if is asked to summarise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.summary_sizes import Source, SummaryChoice, summary_cap
from compaction_app.engine.turn.requests import KnownSummary
from sessions_app.tokens.message_tokens import CHARS_PER_TOKEN

Given = tuple[Source, tuple[KnownSummary, ...]]
"""Where the sizes come from, and the summaries, of which the last one serves again and again."""

LETTER: Final = "x"


def given_summaries(
    recorded: Sequence[KnownSummary], choice: SummaryChoice, lines: Lines, policy: Policy
) -> Given:
    """The summaries for a recording with these own ones."""
    if choice.tokens is not None:
        return "chosen", (_of(choice.tokens),)
    if choice.source == "cap":
        return "cap", (_of(summary_cap(lines, policy)),)
    if recorded and choice.source in ("", "recorded"):
        by_size = sorted(recorded, key=lambda summary: len(summary.text))
        return "recorded", (*recorded, by_size[(len(by_size) - 1) // 2])
    return "extractive", ()


def _of(tokens: int) -> KnownSummary:
    return KnownSummary(LETTER * (tokens * CHARS_PER_TOKEN))
