"""Which of the skills found in one folder are loaded at all (spec compaction 5.6).

The spec gives the limits; that candidates are taken by their names, and that a file of exactly the
limit is loaded, is how the runtime's source reads. Which folder wins for a name is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction_app.engine.composition.skills import skills_limit
from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step

MAX_CANDIDATES_PER_ROOT = 300
MAX_LOADED_PER_SOURCE = 200
MAX_FILE_BYTES = 256_000

PassedOverReason = Literal["too_many_candidates", "source_full", "file_too_large"]


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A folder with a ``SKILL.md`` of that many bytes."""

    name: str
    file_bytes: int


@dataclass(frozen=True, slots=True)
class PassedOver:
    name: str
    reason: PassedOverReason


@dataclass(frozen=True, slots=True)
class LoadedSkills:
    """The names of the loaded skills, and of the others with the reason."""

    decision: Decision
    loaded: tuple[str, ...]
    passed_over: tuple[PassedOver, ...]


def load_skills(found: Sequence[FoundSkill], config: Any, rule_set: str) -> LoadedSkills:
    """Apply the limits of ``skills.limits`` to what one folder holds."""
    limits = value_at(config, "skills", "limits")
    candidates = skills_limit(limits, "maxCandidatesPerRoot", MAX_CANDIDATES_PER_ROOT)
    room = skills_limit(limits, "maxSkillsLoadedPerSource", MAX_LOADED_PER_SOURCE)
    max_bytes = skills_limit(limits, "maxSkillFileBytes", MAX_FILE_BYTES)
    loaded: list[str] = []
    passed_over: list[PassedOver] = []
    for place, skill in enumerate(sorted(found, key=lambda skill: skill.name)):
        if place >= candidates:
            passed_over.append(PassedOver(skill.name, "too_many_candidates"))
        elif len(loaded) >= room:
            passed_over.append(PassedOver(skill.name, "source_full"))
        elif skill.file_bytes > max_bytes:
            passed_over.append(PassedOver(skill.name, "file_too_large"))
        else:
            loaded.append(skill.name)
    decision = Decision(
        rule="skills_loading",
        fired=bool(passed_over),
        outcome="limited" if passed_over else "all",
        reason=passed_over[0].reason if passed_over else "skills_within_limits",
        rule_set=rule_set,
        inputs={"found": len(found)},
        steps=(
            Step("maxCandidatesPerRoot", "the first by name", candidates, "count"),
            Step("maxSkillsLoadedPerSource", "loaded of one folder", room, "count"),
            Step("maxSkillFileBytes", "SKILL.md at most", max_bytes, "bytes"),
            Step("loaded", "skills loaded", len(loaded), "count"),
        ),
    )
    return LoadedSkills(decision, tuple(loaded), tuple(passed_over))
