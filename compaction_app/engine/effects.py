"""Which settings do something, and why the others do not: a knob never does nothing silently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.budget import min_prompt_budget
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.reasons import sentence
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.summary_sizes import RESERVE_THAT_BOUNDS, SummarySizes

NO_EFFECT: Final = "No effect: "
_IDLE_RESERVE: Final = (
    NO_EFFECT + "in safeguard mode the pre-prompt check reserves 16,384 whatever is set, and the "
    "inner threshold is off."
)
_GATE_REASONS: Final = (
    "path_runs_no_gates",
    "cli_backend",
    "workspace_not_writable",
    "window_too_small_for_flush",
)
_CLI_IDLE: Final = (
    "compaction.reserveTokens",
    "compaction.reserveTokensFloor",
    "compaction.keepRecentTokens",
    "compaction.mode",
    "maxTokens",
)


def ineffective(policy: Policy, lines: Lines, summaries: SummarySizes) -> Mapping[str, str]:
    """For each setting that changes nothing in a what-if, by key: why.

    ``summaries`` are the sizes that the what-if works with: where they were recorded, nothing that
    bounds a summary matters.
    """
    reasons = {
        **_of_reserve(policy, lines, summaries),
        **_of_flush(lines),
        **_of_summaries(lines, summaries),
    }
    check = lines.named("pre_prompt")
    if not check.active:
        reasons["contextLimits.toolResultMaxChars"] = NO_EFFECT + f"{sentence(check.reason)}."
    if check.reason == "cli_backend":
        reasons |= dict.fromkeys(_CLI_IDLE, NO_EFFECT + f"{sentence(check.reason)}.")
    return reasons


def unread(rules: RuleSet) -> Mapping[str, str]:
    """For each setting that a version does not read at all, by key: that it does not."""
    note = f"{NO_EFFECT}{rules.runtime_version} does not read it."
    return dict.fromkeys(rules.config.unread_settings, note)


def _gates_are_closed(lines: Lines) -> bool:
    """Whether neither the flush nor preflight acts, wherever their line is."""
    return all(
        not line.active and line.reason != "window_too_small_for_flush"
        for line in (lines.named("flush"), lines.named("preflight"))
    )


def _of_flush(lines: Lines) -> dict[str, str]:
    flush, preflight = lines.named("flush"), lines.named("preflight")
    reasons = {}
    if _gates_are_closed(lines):
        reasons["compaction.memoryFlush.softThresholdTokens"] = NO_EFFECT + (
            f"{sentence(flush.reason)}."
        )
    gate = next((r for r in (flush.reason, preflight.reason) if r in _GATE_REASONS), "")
    if gate:
        reasons["compaction.memoryFlush.enabled"] = NO_EFFECT + f"{sentence(gate)}."
    return reasons


def _of_reserve(policy: Policy, lines: Lines, summaries: SummarySizes) -> dict[str, str]:
    """Reserve and floor bound summaries together: one alone matters where the other is small."""
    if lines.named("inner_threshold").reason != "safeguard_mode":
        if policy.reserve_tokens < lines.settings.reserve_tokens:
            floor = f"{lines.settings.reserve_tokens:,.0f}"
            return {"compaction.reserveTokens": f"Below the floor: {floor} is reserved."}
        return {}
    room = lines.window - min_prompt_budget(lines.window)
    other = {"compaction.reserveTokens": min(policy.reserve_tokens_floor, room)}
    if _gates_are_closed(lines):
        other["compaction.reserveTokensFloor"] = policy.reserve_tokens
    return {
        key: _IDLE_RESERVE
        if summaries.source == "recorded" or least >= RESERVE_THAT_BOUNDS
        else "Only bounds the summaries: in safeguard mode no line is at it."
        for key, least in other.items()
    }


def _of_summaries(lines: Lines, summaries: SummarySizes) -> dict[str, str]:
    reasons = {}
    if lines.mode != "safeguard":
        reasons["compaction.maxHistoryShare"] = (
            NO_EFFECT + "only safeguard mode shares out the history."
        )
    else:
        reasons["compaction.maxHistoryShare"] = (
            "Changes what a summary is made of, not when it is written: no effect on this curve."
        )
    if summaries.source == "recorded":
        reasons["maxTokens"] = NO_EFFECT + "the summaries are taken to be as large as the recorded."
    return reasons


def is_disabled(key: str, reasons: Mapping[str, str]) -> bool:
    """Whether the knob is locked: it has no effect wherever it stands."""
    reason = reasons.get(key, "")
    return reason.startswith(NO_EFFECT)
