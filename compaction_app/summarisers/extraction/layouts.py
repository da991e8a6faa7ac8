"""Under which headings a summary stands, and how its room is shared out among what was found."""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS
from compaction_app.engine.wording.cues import Kind
from compaction_app.summarisers.extraction.carried import NOTHING

NONE, NONE_CAPTURED, _ = NOTHING


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the kinds below it, in order, and what stands there when nothing was found."""

    heading: str
    kinds: tuple[Kind, ...]
    empty: str = NONE


@dataclass(frozen=True, slots=True)
class Layout:
    """The sections of a summary, the most characters it may have, and whether it begins with a goal."""

    sections: tuple[Section, ...]
    max_chars: int
    names_goal: bool = False


_STRUCTURED_KINDS: tuple[tuple[Kind, ...], ...] = (
    ("decisions", "done", "context"),
    ("failures", "todos"),
    ("constraints",),
    ("asks", "goal"),
    ("identifiers",),
)
STRUCTURED = Layout(
    tuple(
        Section(heading, kinds, NONE_CAPTURED if kinds == ("identifiers",) else NONE)
        for heading, kinds in zip(REQUIRED_SECTIONS, _STRUCTURED_KINDS, strict=True)
    ),
    7000,
)
PLAIN = Layout(
    (
        Section("## Goal", ("goal",)),
        Section("## Constraints & Preferences", ("constraints",)),
        Section("## Progress", (), ""),
        Section("### Done", ("done",)),
        Section("### In Progress", ("asks",)),
        Section("### Blocked", ("failures",)),
        Section("## Key Decisions", ("decisions",)),
        Section("## Next Steps", ("todos",)),
        Section("## Critical Context", ("context",), ""),
        Section("### Exact identifiers", ("identifiers",), NONE_CAPTURED),
    ),
    8000,
    names_goal=True,
)
TURN_PREFIX = Layout(
    (
        Section("## Original Request", ("asks", "goal")),
        Section("## Early Progress", ("done", "decisions", "failures")),
        Section("## Context for Suffix", ("constraints", "todos", "context"), ""),
        Section("### Exact identifiers", ("identifiers",), NONE_CAPTURED),
    ),
    2500,
)

SHARES: tuple[tuple[Kind, float], ...] = (
    ("constraints", 0.22),
    ("decisions", 0.2),
    ("failures", 0.06),
    ("todos", 0.12),
    ("asks", 0.1),
    ("done", 0.14),
    ("goal", 0.08),
    ("context", 0.06),
    ("identifiers", 0.16),
)
"""What is served in which order, and up to which share of the room; what is left goes round again."""
