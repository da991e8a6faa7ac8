"""How pages name the stages of a turn and the one comparison that decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from compaction_app.engine.decision import Decision, Scalar
from sessions_app.tokens import javascript as js

TITLES: Final[Mapping[str, str]] = {
    "preflight": "Preflight compaction",
    "flush": "Memory flush",
    "pre_prompt_check": "Pre-prompt check",
    "inner_trigger": "Inner threshold",
    "stored_history_images": "Old images",
    "cache_ttl_pruning": "Cache-TTL pruning",
    "soft_guard": "Soft guard",
    "history_images": "Old images",
    "prompt_truncation": "Tool results of the prompt",
    "cache_touch": "Mark of the cache",
    "compaction_cut": "Cut point",
    "compaction": "Compaction",
    "overflow_classification": "What the error means",
    "overflow_recovery": "Recovery from an overflow",
    "usage": "Usage into the store",
    "compaction_count": "Compactions counted",
    "inner_trigger_before_prompt": "Inner threshold",
}

_COMPARED: Final[Mapping[str, tuple[str, str]]] = {
    "preflight": ("totalTokens", "threshold"),
    "memory_flush": ("totalTokens", "threshold"),
    "prompt_route": ("estimatedPromptTokens", "promptBudgetBeforeReserve"),
    "inner_trigger": ("contextTokens", "innerThreshold"),
    "soft_guard": ("contextChars", "totalLimit"),
    "cache_ttl_pruning": ("ratio", "softTrimRatio"),
    "compaction_cut": ("collected", "keepRecentTokens"),
    "overflow_recovery": ("overflowCompactions", "maxOverflowCompactions"),
}
"""Of each rule: what it measured, and what it held that against; names of inputs or steps."""

UNITS: Final[Mapping[str, str]] = {
    "tokens": "tokens",
    "chars": "characters",
    "bytes": "bytes",
    "ms": "ms",
    "ratio": "of the window",
    "count": "",
    "": "",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two figures that a rule compared, with their names, unit, and how the one stands to the other."""

    left: str
    value: Scalar
    sign: str
    right: str
    limit: Scalar
    unit: str


def title_of(stage: str) -> str:
    return TITLES.get(stage, stage.replace("_", " ").capitalize())


def comparison_of(decision: Decision) -> Comparison | None:
    """The comparison that a rule comes down to; none where it did not get as far as that."""
    left, right = _COMPARED.get(decision.rule, ("", ""))
    known = {step.name: step.value for step in decision.steps}
    value, limit = ({**known, **decision.inputs}.get(name) for name in (left, right))
    units = {step.name: step.unit for step in decision.steps}
    if not js.is_number(value) or not js.is_number(limit):
        return None
    sign = ">" if value > limit else "<" if value < limit else "="
    return Comparison(left, value, sign, right, limit, UNITS[units.get(left) or unit_of(left)])


def unit_of(name: str) -> str:
    """The unit of a number by its name, as a step has it: OpenClaw's names end in their unit."""
    lower = name.lower()
    if lower.endswith(("tokens", "contextwindow", "tokenbudget")):
        return "tokens"
    if lower.endswith("chars"):
        return "chars"
    if lower.endswith("bytes"):
        return "bytes"
    if lower.endswith("ratio"):
        return "ratio"
    return "count"


def is_moment(name: str) -> bool:
    """Whether a number of this name is a point in time, in milliseconds since 1970."""
    return name == "now" or name.endswith("At")
