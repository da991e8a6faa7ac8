"""Which version uses which records of the rules that compose a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.composition import bootstrap_limits, bootstrap_trim, context_injection


@dataclass(frozen=True, slots=True)
class CompositionRules:
    """The records of all rules that compose a context, for one version."""

    limits: bootstrap_limits.LimitRules
    trim: bootstrap_trim.Trim
    injection: context_injection.InjectionRules


COMPOSITION_2026_3: Final = CompositionRules(
    limits=bootstrap_limits.LIMITS_2026_3,
    trim=bootstrap_trim.TRIM_2026_3,
    injection=context_injection.INJECTION_2026_4_20,
)
COMPOSITION_2026_4_20: Final = CompositionRules(
    limits=bootstrap_limits.LIMITS_2026_4_20,
    trim=bootstrap_trim.TRIM_2026_4_20,
    injection=context_injection.INJECTION_2026_4_20,
)
COMPOSITION_2026_5_28: Final = CompositionRules(
    limits=bootstrap_limits.LIMITS_2026_5_28,
    trim=bootstrap_trim.TRIM_2026_5_28,
    injection=context_injection.INJECTION_2026_5_28,
)
COMPOSITION_2026_9: Final = CompositionRules(
    limits=bootstrap_limits.LIMITS_2026_9,
    trim=bootstrap_trim.TRIM_2026_9,
    injection=context_injection.INJECTION_2026_5_28,
)
