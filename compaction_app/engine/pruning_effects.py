"""Which pruning settings and constants do something in a what-if, and why the others do not."""

from __future__ import annotations

from typing import Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import SETTINGS, Policy
from compaction_app.engine.pruning.cache_ttl_settings import CACHE_TTL_MODE
from compaction_app.engine.pruning.duration import BadDuration, parse_duration_ms
from compaction_app.engine.pruning.run_eligibility import run_eligibility
from compaction_app.engine.reasons import sentence

MODE: Final = "contextPruning.mode"
TTL: Final = "contextPruning.ttl"
NEVER_LOCKED: Final = (MODE, TTL)
"""Knobs that stay free although they do nothing just now: they let the others act again."""

_KEYS: Final = tuple(s.key for s in SETTINGS if s.key.startswith("contextPruning."))
_CLEARING: Final = (
    "contextPruning.hardClearRatio",
    "contextPruning.minPrunableToolChars",
    "contextPruning.hardClear.placeholder",
)


def pruning_notes(policy: Policy, around: Circumstances) -> dict[str, str]:
    """For each setting of cache-TTL pruning that changes nothing in a what-if, by key: why."""
    if policy.pruning_mode != CACHE_TTL_MODE:
        return _idle("contextPruning.mode is off", but_for=(MODE,))
    if around.path == "cli":
        return _idle(sentence("cli_backend"))
    if not run_eligibility(around).fired:
        provider = f"provider {around.provider}" if around.provider else "an unknown provider"
        short = _idle(f"{provider} is not eligible", but_for=(MODE,))
        return short | {MODE: f"No effect: {ineligible(around)}."}
    ttl_ms = _ttl_ms(policy, around)
    if ttl_ms is not None and ttl_ms <= 0:
        notes = _idle("a ttl of 0 switches pruning off", but_for=(TTL,))
        return notes | {TTL: "0 switches pruning off."}
    notes = {} if ttl_ms is not None else {TTL: "No duration: 5m holds. E.g. 90s, 5m, 1h."}
    if not policy.hard_clear_enabled:
        notes |= dict.fromkeys(_CLEARING, "No effect: hardClear.enabled is false.")
    return notes


def _idle(why: str, but_for: tuple[str, ...] = ()) -> dict[str, str]:
    return {key: f"No effect: {why}." for key in _KEYS if key not in but_for}


def ineligible(around: Circumstances) -> str:
    """Why a provider is not eligible, in words that name it."""
    if not around.provider:
        return "the provider is unknown, and only providers with a prompt cache are pruned for"
    model = f" with model {around.model}" if around.model else ""
    return f"provider {around.provider}{model} is not one whose prompt cache the runtime prunes for"


def _ttl_ms(policy: Policy, around: Circumstances) -> float | None:
    """The ttl as the runtime reads it, none where it is no duration."""
    durations = around.rules.pruning.cache_ttl.durations
    try:
        return parse_duration_ms(policy.pruning_ttl, durations, default_unit="m")
    except BadDuration:
        return None
