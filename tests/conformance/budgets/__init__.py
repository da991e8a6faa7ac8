"""Golden cases of the section "budgets": their encodings, and which function of ours answers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.budgets import (
    config,
    estimates,
    files,
    flush,
    overflow,
    protocol,
    routing,
    settings,
    silent,
    windows,
)

FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    **windows.FUNCTIONS,
    **settings.FUNCTIONS,
    **estimates.FUNCTIONS,
    **routing.FUNCTIONS,
    **overflow.FUNCTIONS,
    **flush.FUNCTIONS,
    **files.FUNCTIONS,
    **silent.FUNCTIONS,
    **config.FUNCTIONS,
}


def answer(fn: str, args: dict[str, Any], rules: RuleSet) -> Any:
    """The encoded result of ``fn``; raises LookupError for a function we do not have."""
    if fn not in FUNCTIONS:
        raise LookupError(f"unknown function {fn}")
    return protocol.encode(FUNCTIONS[fn](protocol.expand(args), rules))
