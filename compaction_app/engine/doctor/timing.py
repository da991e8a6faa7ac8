"""Does the memory flush come before the compaction? Answered with the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from compaction_app.engine.diagnose import Finding, Subject
from compaction_app.engine.diagnose.flushes import PRE_PROMPT, Trigger, triggers
from compaction_app.engine.lines import Line
from compaction_app.engine.reasons import sentence
from sessions_app.tokens.pressure import SAFETY_MARGIN

Answer = Literal["yes", "no", "never"]

_NO: Final = ("FLUSH_UNREACHABLE", "FLUSH_SHADOWED_BY_PRECHECK", "FLUSH_BYPASSED_BY_JUMP")
_PREFLIGHT: Final = (
    " Preflight compaction is asked before it, at the same line, by the stored total alone; the flush "
    "counts the last answer and the new prompt as well. So it comes first when a turn begins below the "
    "line by less than these two, and not when one turn takes the stored total past the line."
)


@dataclass(frozen=True, slots=True)
class Gap:
    """A trigger of compaction and how far it stands above the flush line, in billed tokens.

    ``is_converted``: the trigger judges an estimate and was converted into billed tokens.
    """

    trigger: Trigger
    gap: int
    is_converted: bool


@dataclass(frozen=True, slots=True)
class Timing:
    """``answer`` in a word, ``words`` with the numbers, ``gaps`` from the nearest trigger on."""

    answer: Answer
    words: str
    flush: Line
    gaps: tuple[Gap, ...]


def flush_timing(subject: Subject, found: list[Finding]) -> Timing:
    """The answer for a subject; ``found`` are its findings, which know what a recording adds."""
    flush = subject.lines.named("flush")
    gaps = tuple(
        sorted(
            (
                Gap(each, each.tokens - flush.tokens, each.name == PRE_PROMPT)
                for each in triggers(subject)
            ),
            key=lambda gap: gap.gap,
        )
    )
    if not flush.active:
        words = f"No flush runs at all: {sentence(flush.reason)}."
        return Timing("never", words, flush, gaps)
    blocking = next((f for f in found if f.code in _NO), None)
    if blocking is not None:
        return Timing("no", blocking.consequence, flush, gaps)
    return Timing("yes", _yes(subject, flush, gaps), flush, gaps)


def _yes(subject: Subject, flush: Line, gaps: tuple[Gap, ...]) -> str:
    preflight = subject.lines.named("preflight")
    same = _PREFLIGHT if preflight.active else ""
    if not gaps:
        return (
            f"The flush line stands at {flush.tokens:,} billed tokens; nothing else compacts.{same}"
        )
    first = gaps[0]
    aside = ""
    if any(gap.is_converted for gap in gaps) and not subject.conversion.measured:
        aside = (
            f" How soon the pre-prompt check comes cannot be told without a session of five billed "
            f"calls: it multiplies its estimate by {SAFETY_MARGIN}."
        )
    return (
        f"The flush line stands at {flush.tokens:,} billed tokens, {first.gap:,} below the first "
        f"line that compacts ({first.trigger.title}, {first.trigger.tokens:,}). A turn that adds more "
        f"than that passes both at once.{same}{aside}"
    )
