"""What each experimental constant can do in a session, and why some do nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.pruning.experimental_settings import CONSTANTS
from compaction_app.engine.pruning.tried_cuts import CutLimits
from compaction_app.engine.pruning_effects import pruning_notes
from compaction_app.engine.reasons import sentence
from sessions_app.tokens.loop_chars import RESULT_WEIGHT

_HARD_CUT: Final = ("x.tailShare", "x.tailMaxChars", "x.hardNewlineShare")
_CUT_WHOLE: Final = (
    "No effect on the curve, which counts a cut result at its full cap: see Cut results for what "
    "stays."
)
_OFF_CURVE: Final = (
    "No effect on the curve, which leaves out the guard before a model call: see Cut results for "
    "what it does."
)


@dataclass(frozen=True, slots=True)
class Reach:
    """What the constants could act on in a session, at most: the size of its largest tool result, what
    the largest weighs to the guard, and its largest context in the guard's estimated characters."""

    images: int
    result_chars: int
    call_chars: int
    context_chars: int


@dataclass(frozen=True, slots=True)
class BothLimits:
    """The limits by the version's constants and by those in force; ``least_total`` is the lesser one on
    a whole context."""

    own: CutLimits
    tried: CutLimits
    least_total: float

    @property
    def least_single(self) -> float:
        return min(self.own.call, self.tried.call)


def constant_notes(
    policy: Policy, around: Circumstances, reach: Reach, limits: BothLimits
) -> dict[str, str]:
    """For each experimental constant without effect on a session, or on its curve alone: why."""
    if around.path == "cli":
        return {c.key: f"No effect: {sentence('cli_backend')}." for c in CONSTANTS}
    notes = dict.fromkeys(_HARD_CUT, _hard_note(around, reach, limits))
    notes["x.softNewlineShare"] = _soft_note(around, reach, limits)
    notes["x.singleShare"] = _single_note(reach, limits)
    notes["x.headroomShare"] = _headroom_note(around, reach, limits)
    pruning = pruning_notes(policy, around).get("contextPruning.softTrimRatio", "")
    if not reach.images:
        notes["x.imageChars"] = "No effect: this session holds no image."
    elif pruning:
        notes["x.imageChars"] = pruning.replace("No effect", "No effect on the curve", 1)
    return notes


def _hard_note(around: Circumstances, reach: Reach, limits: BothLimits) -> str:
    limit = min(limits.own.storing, limits.own.recovery)
    if around.rules.pruning.guard.cut.truncation is not None:
        limit = min(limit, limits.least_single / RESULT_WEIGHT)
    return _none_larger(limit) if reach.result_chars <= limit else _CUT_WHOLE


def _soft_note(around: Circumstances, reach: Reach, limits: BothLimits) -> str:
    if around.rules.pruning.guard.cut.truncation is not None:
        return "No effect: this version cuts in view as it cuts for good; hardNewlineShare holds."
    is_small = reach.call_chars <= limits.least_single
    return _none_larger(limits.least_single / RESULT_WEIGHT) if is_small else _OFF_CURVE


def _single_note(reach: Reach, limits: BothLimits) -> str:
    is_tried = limits.own.call != limits.tried.call
    if is_tried and reach.call_chars <= limits.least_single:
        return _none_larger(limits.least_single / RESULT_WEIGHT)
    return _OFF_CURVE


def _headroom_note(around: Circumstances, reach: Reach, limits: BothLimits) -> str:
    if around.rules.pruning.guard.too_large == "send":
        return "No effect: this version’s guard sends a context however large it is."
    is_tried = around.constants.headroom_share is not None
    if is_tried and reach.context_chars <= limits.least_total:
        return (
            f"No effect: no context is larger than {limits.least_total:,.0f} estimated characters."
        )
    return _OFF_CURVE


def _none_larger(limit: float) -> str:
    return f"No effect: no tool result is larger than {limit:,.0f} characters."
