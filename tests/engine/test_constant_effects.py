"""An experimental constant that is said to do nothing does nothing, and says why with the number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.constant_effects import BothLimits, Reach, constant_notes
from compaction_app.engine.policy import Policy
from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.pruning.experimental_settings import CONSTANTS
from compaction_app.engine.pruning.tried_cuts import CutLimits
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, OPENCLAW_2026_9
from tests.engine.test_pruning_effects import ANTHROPIC, LONG, ON, acts

LIMITS = CutLimits(storing=16_000, call=64_000, recovery=16_000)
BOTH = BothLimits(LIMITS, LIMITS, 230_400)
LARGE = Reach(images=1, result_chars=100_000, call_chars=200_000, context_chars=500_000)
SMALL = Reach(images=0, result_chars=900, call_chars=1_800, context_chars=5_000)
SINGLE = replace(BOTH, tried=replace(LIMITS, call=25_600))


def notes(
    reach: Reach = LARGE,
    limits: BothLimits = BOTH,
    policy: Policy = ON,
    around: Circumstances = ANTHROPIC,
) -> dict[str, str]:
    return constant_notes(policy, around, reach, limits)


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.key)
def test_a_constant_said_to_leave_the_curve_alone_does_and_the_others_do_not(constant: Any) -> None:
    seen = []
    for value in (constant.low, constant.own(DEFAULT_RULE_SET), constant.high):
        constants = ExperimentalConstants(**{constant.name: value})
        around = replace(ANTHROPIC, rules=with_constants(DEFAULT_RULE_SET, constants))
        seen.append(acts(LONG, ON, around))
    says = notes().get(constant.key, "")
    assert (seen[0] == seen[1] == seen[2]) == says.startswith("No effect on the curve")


def test_the_weight_of_images_needs_images_and_for_the_curve_pruning() -> None:
    assert notes(SMALL)["x.imageChars"] == "No effect: this session holds no image."
    off = notes(policy=replace(ON, pruning_mode="off"))["x.imageChars"]
    assert off == "No effect on the curve: contextPruning.mode is off."
    assert "x.imageChars" not in notes()


def test_a_constant_with_nothing_to_act_on_names_the_limit_that_no_result_reaches() -> None:
    says = notes(SMALL, SINGLE)
    for key in ("x.tailShare", "x.tailMaxChars", "x.hardNewlineShare"):
        assert says[key] == "No effect: no tool result is larger than 16,000 characters."
    for key in ("x.softNewlineShare", "x.singleShare"):
        assert says[key] == "No effect: no tool result is larger than 12,800 characters."


def test_an_untried_share_of_the_window_is_not_said_to_do_nothing() -> None:
    says = notes(SMALL)
    assert says["x.singleShare"].startswith("No effect on the curve")
    assert says["x.headroomShare"].startswith("No effect on the curve")


def test_a_tried_headroom_that_no_context_fills_names_the_limit() -> None:
    tried = replace(ANTHROPIC, constants=ExperimentalConstants(headroom_share=0.9))
    says = notes(SMALL, around=tried)["x.headroomShare"]
    assert says == "No effect: no context is larger than 230,400 estimated characters."
    assert notes(around=tried)["x.headroomShare"].startswith("No effect on the curve")


def test_2026_9_has_no_headroom_and_cuts_in_view_as_it_cuts_for_good() -> None:
    newest = replace(ANTHROPIC, rules=OPENCLAW_2026_9)
    says = notes(around=newest)
    assert "however large it is" in says["x.headroomShare"]
    assert "hardNewlineShare holds" in says["x.softNewlineShare"]
    just = replace(SMALL, result_chars=13_000)
    assert says["x.tailShare"].startswith("No effect on the curve")
    assert notes(just, SINGLE, around=newest)["x.tailShare"].startswith("No effect on the curve")


def test_a_command_line_backend_runs_none_of_the_rules() -> None:
    says = notes(around=replace(ANTHROPIC, path="cli"))
    assert set(says) == {constant.key for constant in CONSTANTS}
    assert set(says.values()) == {"No effect: a command line backend keeps its own context."}
