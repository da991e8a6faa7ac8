"""Golden cases of the section "pruning": their encodings, and which function of ours answers each."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.pruning import (
    pairing,
    persistence,
    sessions,
    soft_guard,
    truncation,
)
from tests.conformance.pruning.protocol import Adapter, expand

FUNCTIONS: dict[str, Adapter] = {
    **truncation.FUNCTIONS,
    **pairing.FUNCTIONS,
    **persistence.FUNCTIONS,
    **sessions.FUNCTIONS,
    **soft_guard.FUNCTIONS,
}


def answer(fn: str, args: dict[str, Any], rules: RuleSet) -> Any:
    """The encoded result of ``fn``; raises LookupError for a function we do not have."""
    if fn not in FUNCTIONS:
        raise LookupError(f"unknown function {fn}")
    return FUNCTIONS[fn](expand(args), rules)
