"""Golden cases of the section "profiles": their encodings, and which function of ours answers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.profiles import (
    flush,
    gates,
    projections,
    protocol,
    refresh,
    tool_results,
    windows,
)

FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    **windows.FUNCTIONS,
    **flush.FUNCTIONS,
    **refresh.FUNCTIONS,
    **tool_results.FUNCTIONS,
    **gates.FUNCTIONS,
    **projections.FUNCTIONS,
}


def answer(fn: str, args: dict[str, Any], rules: RuleSet) -> Any:
    """The encoded result of ``fn``; raises LookupError for a function we do not have."""
    if fn not in FUNCTIONS:
        raise LookupError(f"unknown function {fn}")
    return protocol.encode(FUNCTIONS[fn](protocol.expand(args), rules))
