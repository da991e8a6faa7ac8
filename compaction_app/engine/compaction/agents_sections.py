"""Which sections of AGENTS.md are meant when settings name them (spec compaction 4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.tokens import javascript as js

DEFAULT_SECTIONS = ("Session Startup", "Red Lines")
LEGACY_SECTIONS = ("Every Session", "Safety")
"""The names the default sections had before; looked for only where the default ones are meant."""

_HEADING = re.compile(rf"(#{{2,3}}){js.SPACE_CLASS}+({js.ANY_CLASS}+?){js.SPACE_CLASS}*\Z")
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class SectionRules:
    """``trims_names``: white space around a configured name does not count."""

    trims_names: bool


SECTIONS_2026_3 = SectionRules(trims_names=False)
SECTIONS_2026_4_20 = SectionRules(trims_names=True)


@dataclass(frozen=True, slots=True)
class FoundSections:
    """The sections found, in the order they were asked for, and their names as they were asked."""

    sections: tuple[str, ...]
    names: tuple[str, ...]


def extract_sections(content: str, names: Sequence[str], rules: SectionRules) -> FoundSections:
    """The first section under each name, a heading of level 2 or 3, down to the next such heading.

    Headings inside a code fence are none; the fence itself belongs to the section around it.
    """
    lines = content.split("\n")
    found = [(name, _section(lines, _wanted(name, rules))) for name in names]
    kept = [(name, section) for name, section in found if section is not None]
    return FoundSections(tuple(s for _, s in kept), tuple(n for n, _ in kept))


def matches_section_set(names: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether both lists hold the same names, in any order, whatever their case."""
    return Counter(map(js.norm, names)) == Counter(map(js.norm, expected))


def rules_sections(content: str, names: Sequence[str], rules: SectionRules) -> FoundSections:
    """The named sections; where the default ones are meant and missing, those of the old names."""
    found = extract_sections(content, names, rules)
    if not found.sections and matches_section_set(names, DEFAULT_SECTIONS):
        return extract_sections(content, LEGACY_SECTIONS, rules)
    return found


def _wanted(name: str, rules: SectionRules) -> str:
    return (js.trim(name) if rules.trims_names else name).lower()


def _section(lines: Sequence[str], wanted: str) -> str | None:
    collected: list[str] = []
    level = 0
    fenced = False
    for line in lines:
        is_fence = js.trim_start(line).startswith(_FENCE)
        heading = None if fenced or is_fence else _HEADING.match(line)
        fenced = fenced != is_fence
        if heading is not None and not level and heading[2].lower() == wanted:
            level = len(heading[1])
        elif heading is not None and level and len(heading[1]) <= level:
            break
        if level:
            collected.append(line)
    return js.trim("\n".join(collected)) if level else None
