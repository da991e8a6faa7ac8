"""How large the summaries of a what-if are taken to be, and where that comes from.

As the session's own compactions made them, else as the summariser without a model writes them, else at
the cap; whoever asks may choose another source, or a size. The ``k``-th simulated compaction takes the
``k``-th recorded size, then their median.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Final, Literal, get_args

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from sessions_app.transcripts.timeline import Timeline

SUMMARY_CAP_TOKENS: Final = 4_000
"""The runs' own summaries stayed far below that."""

SHARE_OF_ANSWER: Final = 0.8
"""Of the reserve, or of what the model may answer (spec compaction 1.5)."""

DEFAULT_MAX_TOKENS: Final = 8_192
RESERVE_THAT_BOUNDS: Final = SUMMARY_CAP_TOKENS / SHARE_OF_ANSWER
"""A reserve (or a longest answer) of this size or more does not bound a summary."""

LARGEST_TOKENS: Final = 1_000_000

Source = Literal["recorded", "extractive", "cap", "chosen"]
CHOICES: Final = tuple(source for source in get_args(Source) if source != "chosen")
SOURCE_TITLES: Final[dict[str, str]] = {
    "recorded": "the session’s own compactions",
    "extractive": "the summariser without a model",
    "cap": "the most a summary may take",
    "chosen": "chosen here",
}


@dataclass(frozen=True, slots=True)
class SummaryChoice:
    """What was asked for: a ``source`` ("": the first that knows anything), or ``tokens`` for each."""

    source: str = ""
    tokens: int | None = None


AS_KNOWN: Final = SummaryChoice()
Measure = Callable[[], int]
"""How large the summariser without a model writes a summary of this session, estimated tokens."""


@dataclass(frozen=True)
class SummarySizes:
    """Sizes in estimated tokens. ``recorded`` may be empty: then each is ``one``, which is worked out when
    the first is asked for, since it may take reading texts."""

    source: Source
    recorded: tuple[int, ...]
    measure: Measure

    @cached_property
    def one(self) -> int:
        """The size behind the recorded ones: their median, else that of each."""
        return int(median(self.recorded)) if self.recorded else max(self.measure(), 1)

    def size(self, number: int) -> int:
        """The size of the ``number``-th simulated summary, from 0."""
        return self.recorded[number] if number < len(self.recorded) else self.one


def summary_sizes(
    grown: Timeline,
    lines: Lines,
    policy: Policy,
    choice: SummaryChoice = AS_KNOWN,
    extractive: Measure | None = None,
) -> SummarySizes:
    """The sizes for a recording under a policy.

    Args:
        extractive: measures the summariser without a model; without it the cap stands in.
    """
    cap = summary_cap(lines, policy)
    recorded = tuple(int(size) for size in grown.compactions.summary_tokens if size > 0)
    if choice.tokens is not None:
        tokens = choice.tokens
        return SummarySizes("chosen", (), lambda: tokens)
    if recorded and choice.source in ("", "recorded"):
        return SummarySizes("recorded", recorded, lambda: cap)
    if extractive is not None and choice.source != "cap":
        measured = extractive
        return SummarySizes("extractive", (), lambda: min(measured(), cap))
    return SummarySizes("cap", (), lambda: cap)


def summary_cap(lines: Lines, policy: Policy) -> int:
    """The most that a summary may take under a policy: a share of the reserve or of an answer."""
    answer = min(int(lines.settings.reserve_tokens), policy.max_tokens or DEFAULT_MAX_TOKENS)
    return max(min(int(answer * SHARE_OF_ANSWER), SUMMARY_CAP_TOKENS), 1)
