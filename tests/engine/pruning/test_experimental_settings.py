"""The experimental constants as an address writes them."""

from __future__ import annotations

import pytest

from compaction_app.engine.pruning.experimental import ExperimentalConstants
from compaction_app.engine.pruning.experimental_settings import (
    CONSTANTS,
    changed_constants,
    read_constants,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28


def test_only_what_differs_from_the_version_is_changed() -> None:
    values = {"x.tailShare": "0.5", "x.tailMaxChars": "4000", "x.imageChars": ""}
    constants, problems = read_constants(values, OPENCLAW_2026_5_28)
    assert constants == ExperimentalConstants(tail_share=0.5)
    assert not problems
    assert [(c.key, value) for c, value in changed_constants(constants)] == [("x.tailShare", 0.5)]


def test_what_a_version_has_itself_depends_on_the_version() -> None:
    for rules, changed in ((OPENCLAW_2026_3, None), (OPENCLAW_2026_5_28, 0.75)):
        constants, _ = read_constants({"x.headroomShare": "0.75"}, rules)
        assert constants.headroom_share == changed


@pytest.mark.parametrize("text", ["much", "-0.1", "1.1", "nan", "inf", "1" * 5_000])
def test_a_value_out_of_bounds_is_refused_with_what_is_taken(text: str) -> None:
    constants, problems = read_constants({"x.tailShare": text}, OPENCLAW_2026_5_28)
    assert constants == ExperimentalConstants()
    assert "from 0 to 1" in problems["x.tailShare"]


def test_every_constant_has_an_entry_and_its_own_value_lies_within_its_bounds() -> None:
    assert {c.name for c in CONSTANTS} == set(ExperimentalConstants.__slots__)
    for constant in CONSTANTS:
        assert constant.low <= constant.own(OPENCLAW_2026_5_28) <= constant.high
