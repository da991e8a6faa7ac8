"""A decision: one rule applied once, with everything needed to explain it.

Every rule of the engine that decides returns one of these, also when it does not fire: the page, the
API, the audit and the doctor show it as it is and compute nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scalar = int | float | str | bool | None
Unit = Literal["tokens", "chars", "bytes", "ms", "ratio", "count", ""]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of arithmetic, as a person would write it down.

    ``formula`` names the settings as OpenClaw spells them, e.g.
    ``contextWindow - reserveTokensFloor - softThresholdTokens``; ``value`` is its result.
    """

    name: str
    formula: str
    value: Scalar
    unit: Unit = "tokens"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule said.

    ``rule`` is the rule's name (``memory_flush``, ``preflight``, ...); ``fired`` whether it acts;
    ``outcome`` what it does (a route, ``flush``, ``skip``); ``reason`` a stable code in lower snake
    case; ``inputs`` the numbers compared; ``steps`` the arithmetic in order; ``rule_set`` the version
    whose rule it was.
    """

    rule: str
    fired: bool
    outcome: str
    reason: str
    rule_set: str
    inputs: Mapping[str, Scalar] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
