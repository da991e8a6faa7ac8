"""How many skills a prompt lists, and in which of two formats (spec compaction 5.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.recovery_limits import agent_entry
from sessions_app.tokens import javascript as js

MAX_SKILLS = 150
MAX_PROMPT_CHARS = 18_000
COMPACT_MARGIN_CHARS = 150
"""What the compact list must stay under the limit, to leave room for the note before it."""

FULL_INTRO_CHARS = 330
COMPACT_INTRO_CHARS = 323
"""What the sentences before the list cost, the blank lines around them included."""

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    description: str
    location: str


@dataclass(frozen=True, slots=True)
class SkillsSelection:
    """The skills listed. ``compact``: without descriptions; ``truncated``: not all of them."""

    decision: Decision
    skills: tuple[Skill, ...]
    compact: bool
    truncated: bool


def skills_list(skills: Sequence[Skill], *, compact: bool) -> str:
    """The list as it stands in the prompt, without the sentences before it."""
    lines = ["<available_skills>"]
    for skill in skills:
        lines += ["  <skill>", f"    <name>{_escaped(skill.name)}</name>"]
        if not compact:
            lines.append(f"    <description>{_escaped(skill.description)}</description>")
        lines += [f"    <location>{_escaped(skill.location)}</location>", "  </skill>"]
    return "\n".join((*lines, "</available_skills>"))


def skills_chars(skills: Sequence[Skill], *, compact: bool) -> int:
    """What the list and the sentences before it cost in characters; 0 without skills."""
    if not skills:
        return 0
    intro = COMPACT_INTRO_CHARS if compact else FULL_INTRO_CHARS
    return intro + js.utf16_len(skills_list(skills, compact=compact))


def select_skills(
    skills: Sequence[Skill], config: Any, agent_id: str | None, rule_set: str
) -> SkillsSelection:
    """All skills with their descriptions, else without, else as many as fit without."""
    limits = _limits(config, agent_id)
    listed = tuple(skills[: skills_limit(limits, "maxSkillsInPrompt", MAX_SKILLS)])
    max_chars = skills_limit(limits, "maxSkillsPromptChars", MAX_PROMPT_CHARS)
    full, small = skills_chars(listed, compact=False), skills_chars(listed, compact=True)
    compact = full > max_chars
    room = max_chars - COMPACT_MARGIN_CHARS
    kept = _longest_prefix(listed, room) if compact and small > room else listed
    truncated = len(kept) < len(skills)
    decision = Decision(
        rule="skills_prompt",
        fired=compact or truncated,
        outcome="truncated" if truncated else "compact" if compact else "full",
        reason="over_char_limit" if compact else "over_count_limit" if truncated else "fits",
        rule_set=rule_set,
        inputs={"skills": len(skills), "maxSkillsPromptChars": max_chars},
        steps=(
            Step("full", "chars with descriptions", full, "chars"),
            Step("compact", "chars without descriptions", small, "chars"),
            Step("compactLimit", f"maxSkillsPromptChars - {COMPACT_MARGIN_CHARS}", room, "chars"),
            Step("kept", "skills in the prompt", len(kept), "count"),
        ),
    )
    return SkillsSelection(decision, kept, compact, truncated)


def skills_note(selection: SkillsSelection, count: int) -> str:
    """The note before a list that is not whole; empty otherwise."""
    if selection.truncated:
        how = " (compact format, descriptions omitted)" if selection.compact else ""
        what = f"Skills truncated: included {len(selection.skills)} of {count}{how}."
    elif selection.compact:
        what = "Skills catalog using compact format (descriptions omitted)."
    else:
        return ""
    return f"⚠️ {what} Run `openclaw skills check` to audit."


def home_relative(path: str, homes: Sequence[str]) -> str:
    """A path below one of the home folders, written with ``~/``."""
    prefixes = (f"{home.rstrip('/')}/" for home in homes if home)
    found = next((prefix for prefix in prefixes if path.startswith(prefix)), None)
    return path if found is None else f"~/{path.removeprefix(found)}"


def skills_limit(limits: Any, name: str, default: int) -> int:
    """A limit of ``skills.limits`` as a whole number, not below 0; the default for what is none."""
    value = value_at(limits, name)
    return int(max(0, js.floor(value))) if js.is_finite(value) else default


def _longest_prefix(skills: Sequence[Skill], max_chars: float) -> tuple[Skill, ...]:
    low, high = 0, len(skills)
    while low < high:
        middle = (low + high + 1) // 2
        if skills_chars(skills[:middle], compact=True) <= max_chars:
            low = middle
        else:
            high = middle - 1
    return tuple(skills[:low])


def _limits(config: Any, agent_id: str | None) -> Mapping[str, Any]:
    general = value_at(config, "skills", "limits")
    own = value_at(agent_entry(config, agent_id), "skillsLimits")
    merged: dict[str, Any] = {}
    for given in (general, own):
        merged.update(given if isinstance(given, Mapping) else {})
    return merged


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)
