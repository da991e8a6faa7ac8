"""Which settings do something, and why the others do not: a knob never does nothing silently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.reasons import sentence

NOT_SIMULATED: Final = "Not simulated yet: the what-if sends every tool result unpruned."
_FLUSH: Final = ("compaction.memoryFlush.softThresholdTokens",)


def ineffective(policy: Policy, lines: Lines) -> Mapping[str, str]:
    """For each setting without effect, by key: why."""
    reasons: dict[str, str] = {}
    flush, check, inner = (
        lines.named("flush"),
        lines.named("pre_prompt"),
        lines.named("inner_threshold"),
    )
    preflight = lines.named("preflight")
    if not flush.active:
        for key in _FLUSH:
            if not preflight.active:
                reasons[key] = f"No effect: {sentence(flush.reason)}."
        if flush.reason != "memory_flush_disabled":
            reasons["compaction.memoryFlush.enabled"] = f"No effect: {sentence(flush.reason)}."
    if lines.mode == "safeguard" and not inner.active:
        reasons["compaction.reserveTokens"] = (
            "No effect: in safeguard mode the pre-prompt check reserves 16,384 whatever is set, and "
            "the inner threshold is off."
        )
        if not flush.active and not preflight.active:
            reasons["compaction.reserveTokensFloor"] = reasons["compaction.reserveTokens"]
    elif policy.reserve_tokens < lines.settings.reserve_tokens:
        floor = f"{lines.settings.reserve_tokens:,.0f}"
        reasons["compaction.reserveTokens"] = f"Below the floor: {floor} is reserved."
    if lines.mode != "safeguard":
        reasons["compaction.maxHistoryShare"] = (
            "No effect: only safeguard mode shares out the history."
        )
    else:
        reasons["compaction.maxHistoryShare"] = (
            "Changes what a summary is made of, not when it is written: no effect on this curve."
        )
    if not check.active:
        reasons["contextLimits.toolResultMaxChars"] = f"No effect: {sentence(check.reason)}."
    for key in _PRUNING:
        reasons[key] = NOT_SIMULATED
    return reasons


_PRUNING: Final = (
    "contextPruning.mode",
    "contextPruning.ttl",
    "contextPruning.keepLastAssistants",
    "contextPruning.softTrimRatio",
    "contextPruning.hardClearRatio",
    "contextPruning.minPrunableToolChars",
    "contextPruning.softTrim.maxChars",
    "contextPruning.softTrim.headChars",
    "contextPruning.softTrim.tailChars",
)


def is_disabled(key: str, reasons: Mapping[str, str]) -> bool:
    """Whether the knob is locked: it has no effect wherever it stands."""
    reason = reasons.get(key, "")
    return bool(reason) and not reason.startswith("Below the floor")
