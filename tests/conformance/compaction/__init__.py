"""Golden cases of the section "compaction": their encodings, and which function of ours answers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.compaction import (
    composition,
    cuts,
    engines,
    measures,
    protocol,
    refresh,
    reports,
    safeguards,
    sections,
    shared,
    subagents,
    summaries,
)

FUNCTIONS: dict[str, Callable[[dict[str, Any], RuleSet], Any]] = {
    **composition.FUNCTIONS,
    **cuts.FUNCTIONS,
    **engines.FUNCTIONS,
    **measures.FUNCTIONS,
    **refresh.FUNCTIONS,
    **reports.FUNCTIONS,
    **safeguards.FUNCTIONS,
    **sections.FUNCTIONS,
    **shared.FUNCTIONS,
    **subagents.FUNCTIONS,
    **summaries.FUNCTIONS,
}


def answer(fn: str, args: dict[str, Any], rules: RuleSet) -> Any:
    """The encoded result of ``fn``; raises LookupError for a function we do not have."""
    if fn not in FUNCTIONS:
        raise LookupError(f"unknown function {fn}")
    return FUNCTIONS[fn](protocol.expand(args), rules)
