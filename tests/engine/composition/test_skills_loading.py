"""Which skills of a folder are loaded (spec compaction 5.6)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.composition.skills_loading import (
    FoundSkill,
    LoadedSkills,
    PassedOver,
    load_skills,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28


def load(found: list[FoundSkill], **limits: Any) -> LoadedSkills:
    return load_skills(found, {"skills": {"limits": limits}}, OPENCLAW_2026_5_28.id)


def folder(count: int) -> list[FoundSkill]:
    return [FoundSkill(f"s{n:03}", 10) for n in reversed(range(count))]


def test_by_default_two_hundred_of_three_hundred_candidates_are_loaded() -> None:
    found = load(folder(301))
    assert len(found.loaded) == 200
    assert (found.loaded[0], found.loaded[-1]) == ("s000", "s199")
    assert found.passed_over[0] == PassedOver("s200", "source_full")
    assert found.passed_over[-1] == PassedOver("s300", "too_many_candidates")


def test_a_file_larger_than_the_limit_leaves_its_place_to_the_next() -> None:
    found = load(
        [FoundSkill("a", 256_001), FoundSkill("b", 256_000), FoundSkill("c", 1)],
        maxSkillsLoadedPerSource=2,
    )
    assert found.loaded == ("b", "c")
    assert found.passed_over == (PassedOver("a", "file_too_large"),)
    assert (found.decision.fired, found.decision.reason) == (True, "file_too_large")


def test_within_the_limits_everything_is_loaded() -> None:
    found = load(folder(3))
    assert (found.loaded, found.passed_over) == (("s000", "s001", "s002"), ())
    assert (found.decision.outcome, found.decision.reason) == ("all", "skills_within_limits")


@pytest.mark.parametrize(("value", "loaded"), [(1.9, 1), (-3, 0), ("7", 3), (None, 3)])
def test_limits_are_whole_and_bad_ones_are_the_default(value: object, loaded: int) -> None:
    assert len(load(folder(3), maxSkillsLoadedPerSource=value).loaded) == loaded
