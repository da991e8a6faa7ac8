"""Two states in words: is the small-window protection at work, and does pruning run?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.budget import min_prompt_budget
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.effects import NO_EFFECT
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.pruning_effects import MODE, pruning_notes

_ANY_SETTING: Final = "contextPruning.softTrimRatio"


@dataclass(frozen=True, slots=True)
class State:
    """Whether a mechanism is at work, and the sentence that says why or why not."""

    is_active: bool
    words: str


def pruning_status(policy: Policy, around: Circumstances) -> State:
    """Whether cache-TTL pruning can run in these circumstances."""
    notes = pruning_notes(policy, around)
    idle = notes.get(MODE) or notes.get(_ANY_SETTING, "")
    if idle:
        return State(False, f"Not active: {idle.removeprefix(NO_EFFECT)}")
    return State(
        True,
        f"Active: old tool results are trimmed from {policy.soft_trim_ratio:.0%} of the window on and cleared "
        f"from {policy.hard_clear_ratio:.0%} on, at calls that come after the provider's cache was idle "
        f"for {policy.pruning_ttl}.",
    )


def window_protection(lines: Lines, around: Circumstances) -> State:
    """Whether a small window lowers the reserve floor to leave room for the prompt."""
    if not around.rules.budget.protects_small_windows:
        return State(False, "This version has none: the floor holds in the smallest window.")
    steps = lines.settings_decision.steps
    floors = [s.value for s in steps if s.name.startswith("reserveTokensFloor")]
    numbers = [value for value in floors if isinstance(value, int | float)]
    first, last = (numbers[0], numbers[-1]) if numbers else (0, 0)
    if last < first:
        return State(
            True,
            f"At work: the floor of {first:,} tokens is lowered to {last:,} in this window of "
            f"{lines.window:,}, so that {lines.window - last:,} stay for the prompt. A configured "
            "reserveTokens is not lowered.",
        )
    left = max(lines.window - first, 0)
    return State(
        False,
        f"Not at work: the floor of {first:,} tokens leaves {left:,} of {lines.window:,} for the prompt, and it "
        f"lowers the floor only where less than {min_prompt_budget(lines.window):,} would be left.",
    )
