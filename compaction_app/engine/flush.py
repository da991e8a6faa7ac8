"""Is a memory flush due? And the same question for the compaction before a turn (spec budgets 5.2).

Both compare a token count with one line: the window less the reserve floor and the soft threshold. The
flush also asks whether it already ran in this compaction cycle; the preflight compaction does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.decision import Decision, Step
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_index import (
    INDEX_2026_5_28,
    IndexRules,
    compaction_count,
    fresh_total_tokens,
    was_flushed_in_cycle,
)

Number = int | float
Entry = Mapping[str, Any]

MEMORY_FLUSH: Final = "memory_flush"
PREFLIGHT: Final = "preflight"


@dataclass(frozen=True, slots=True)
class Line:
    """The line that both gates compare with, and the parts it came from, in tokens.

    ``tokens`` is 0 when the window is too small for a line: then nothing ever crosses it.
    """

    window: Number
    reserve_floor: Number
    soft_threshold: Number
    minimum: Number
    tokens: Number

    def step(self) -> Step:
        """The line as a person would compute it."""
        formula = "max(0, contextWindow - reserveTokensFloor - softThresholdTokens"
        formula += ", minimumThresholdTokens)" if self.minimum else ")"
        return Step("threshold", formula, self.tokens)


def flush_line(
    window: Number, reserve_floor: Number, soft_threshold: Number, minimum: Number | None = None
) -> Line:
    """The line for a window; fractions are cut off, negative settings count as 0.

    ``minimum`` raises the line, for providers that compact on their side from there on.
    """
    parts = (
        js.maximum(1, js.floor(window)),
        js.maximum(0, js.floor(reserve_floor)),
        js.maximum(0, js.floor(soft_threshold)),
    )
    least = js.floor(minimum) if minimum is not None else 0
    tokens = js.maximum(0, parts[0] - parts[1] - parts[2], least)
    return Line(*parts, least, tokens)


@dataclass(frozen=True, slots=True)
class Gate:
    """Both answers for one token count.

    ``total`` is the count that was judged, None when none is known; ``already_flushed`` is None without
    a session entry.
    """

    line: Line
    total: Number | None
    already_flushed: bool | None
    flush: Decision
    preflight: Decision


def token_gate(
    entry: Entry | None,
    line: Line,
    rule_set: str,
    token_count: object = None,
    index: IndexRules = INDEX_2026_5_28,
) -> Gate:
    """Judge ``token_count`` when it is a finite number above 0, else the entry's fresh total."""
    total = _judged(entry, token_count, index)
    flushed = was_flushed_in_cycle(entry, index) if entry is not None else None
    crossed = _crossing(entry, line, total)
    inputs = {
        "contextWindow": line.window,
        "reserveTokensFloor": line.reserve_floor,
        "softThresholdTokens": line.soft_threshold,
        "minimumThresholdTokens": line.minimum,
        "totalTokens": total,
        "compactionCount": compaction_count(entry),
        "memoryFlushCompactionCount": index.flush_mark(entry) if entry else None,
    }
    steps = (line.step(), Step("judged", "totalTokens >= threshold", total))

    def decision(rule: str, act: str, reason: str) -> Decision:
        due = reason.endswith("_due")
        return Decision(rule, due, act if due else "skip", reason, rule_set, inputs, steps)

    flush_reason = "already_flushed_in_cycle" if not crossed and flushed else crossed
    return Gate(
        line=line,
        total=total,
        already_flushed=flushed,
        flush=decision(MEMORY_FLUSH, "flush", flush_reason or "flush_due"),
        preflight=decision(PREFLIGHT, "compact", crossed or "preflight_due"),
    )


def _judged(entry: Entry | None, token_count: object, index: IndexRules) -> Number | None:
    """Only a given count is rounded down, which may leave nothing of it."""
    if js.is_finite(token_count) and token_count > 0:
        return math.floor(token_count)
    return fresh_total_tokens(entry, index)


def _crossing(entry: Entry | None, line: Line, total: Number | None) -> str:
    """Why the line is not crossed, or "" when it is."""
    if entry is None:
        return "no_session_entry"
    if not total:
        return "no_total"
    if not line.tokens > 0:
        return "window_too_small_for_flush"
    return "" if total >= line.tokens else "below_threshold"
