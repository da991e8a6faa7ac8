"""Do the summaries hold what they stand for, or only say that there is none?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS, structured_fallback
from compaction_app.engine.diagnose.finding import Finding
from compaction_app.engine.diagnose.history import Compacted, History
from compaction_app.engine.diagnose.subject import Subject

_UNAVAILABLE: Final = re.compile(
    r"Context contained (\d+) messages? \((\d+) oversized\)\. Summary unavailable"
    r"|Summary unavailable due to (?:size|context) limits"
)
_STRUCTURED: Final = structured_fallback(None)


def find(subject: Subject, history: History) -> Iterator[Finding]:
    """Findings about fallback texts and about summaries that failed their check."""
    for compacted in history.compactions:
        sign = compacted.sign
        if sign is None:
            continue
        notice = _UNAVAILABLE.search(sign.head)
        missing = [name for name in REQUIRED_SECTIONS if name not in sign.headings]
        is_empty = sign.from_hook and sign.head.startswith(_STRUCTURED)
        if notice or is_empty:
            yield _fallback(compacted, "a notice of failure" if notice else "an empty form", [])
            yield _lost(history, compacted, notice)
        elif missing and sign.from_hook and _is_audited(subject):
            yield _fallback(compacted, "one that failed the quality check to the end", missing)


def _is_audited(subject: Subject) -> bool:
    policy = subject.policy
    return (
        subject.is_known
        and subject.lines.mode == "safeguard"
        and policy.quality_guard_enabled
        and not policy.compaction_provider
    )


def _fallback(compacted: Compacted, what: str, missing: Sequence[str]) -> Finding:
    numbers: dict[str, int | float | str] = {"summarisedTokens": compacted.dropped}
    if missing:
        numbers["missingSections"] = ", ".join(missing)
    return Finding(
        "COMPACTION_FALLBACK",
        f"The summary that stands for {compacted.dropped:,} tokens of history is {what}.",
        numbers,
        {"compaction.qualityGuard.maxRetries": 3} if missing else {},
        compacted.line,
    )


def _lost(history: History, compacted: Compacted, notice: re.Match[str] | None) -> Finding:
    rows = history.grown.columns
    kinds = rows.kind[compacted.start : compacted.kept]
    messages = int(((kinds > 0) & (kinds < 7)).sum())
    first, last = history.line_at(compacted.start), history.line_at(max(compacted.kept - 1, 0))
    numbers: dict[str, int | float | str] = {
        "messages": int(notice[1]) if notice and notice[1] else messages,
        "tokens": compacted.dropped,
        "firstLine": first or 0,
        "lastLine": last or 0,
    }
    return Finding(
        "SUMMARY_LOST_HISTORY",
        f"{numbers['messages']} messages ({compacted.dropped:,} tokens, lines {first} to {last}) were "
        "dropped, and nothing was written about them.",
        numbers,
        line=compacted.line,
    )
