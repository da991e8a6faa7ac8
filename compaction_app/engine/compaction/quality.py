"""Whether a summary may stand: its sections, the identifiers, the last ask (spec compaction 3.3, 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction_app.engine.compaction.ask_overlap import AskOverlap, ask_overlap
from compaction_app.engine.compaction.identifiers import missing_identifiers
from sessions_app.tokens import javascript as js

REQUIRED_SECTIONS = (
    "## Decisions",
    "## Open TODOs",
    "## Constraints/Rules",
    "## Pending user asks",
    "## Exact identifiers",
)
NO_HISTORY = "No prior history."
MAX_NAMED_IDENTIFIERS = 3


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """What the check of one summary found.

    ``reasons`` in the runtime's own words, in their order; empty when the summary may stand.
    ``missing_identifiers`` holds all of them, where the reason names the first three; none when the
    identifier policy does not ask for them.
    """

    reasons: tuple[str, ...]
    missing_sections: tuple[str, ...]
    missing_identifiers: tuple[str, ...] | None
    ask: AskOverlap

    @property
    def ok(self) -> bool:
        return not self.reasons


def check_quality(
    summary: str, identifiers: Sequence[str], latest_ask: str | None, policy: str | None
) -> QualityCheck:
    """Judge a summary. Identifiers are asked for under the policy ``strict`` only, the default.

    Headings count wherever they stand alone on a line, in any order, also inside a code fence.
    """
    lines = {js.trim(line) for line in summary.split("\n")}
    sections = tuple(heading for heading in REQUIRED_SECTIONS if heading not in lines)
    missing: tuple[str, ...] | None = None
    if (policy or "strict") == "strict":
        missing = tuple(missing_identifiers(summary, identifiers))
    ask = ask_overlap(summary, latest_ask)
    reasons = [f"missing_section:{heading}" for heading in sections]
    if missing:
        reasons.append("missing_identifiers:" + ",".join(missing[:MAX_NAMED_IDENTIFIERS]))
    if not ask.reflected:
        reasons.append("latest_user_ask_not_reflected")
    return QualityCheck(tuple(reasons), sections, missing, ask)


def has_required_sections(summary: str) -> bool:
    """Whether the headings stand on lines of their own in the required order."""
    lines = iter(summary.split("\n"))
    return all(any(js.trim(line) == heading for line in lines) for heading in REQUIRED_SECTIONS)


def structured_fallback(previous_summary: str | None) -> str:
    """A summary with every section, made without a model: what was known before stays known."""
    previous = js.trim(previous_summary or "")
    if previous and has_required_sections(previous):
        return previous
    bodies = (previous or NO_HISTORY, "None.", "None.", "None.", "None captured.")
    sections = zip(REQUIRED_SECTIONS, bodies, strict=True)
    return "\n\n".join(f"{heading}\n{body}" for heading, body in sections)
