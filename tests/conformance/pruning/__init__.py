"""Golden cases of the section "pruning": their encodings, and which function of ours answers each."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.pruning.duration import BadDuration
from compaction_app.engine.pruning.persist import InvalidEntry
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.pruning import (
    cache_ttl,
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
    **cache_ttl.FUNCTIONS,
}


def answer(fn: str, args: dict[str, Any], rules: RuleSet) -> Any:
    """The encoded result of ``fn``; raises LookupError for a function we do not have."""
    if fn not in FUNCTIONS:
        raise LookupError(f"unknown function {fn}")
    try:
        return FUNCTIONS[fn](expand(args), rules)
    except TypeError as error:
        return {"$error": f"TypeError: {error}"}
    except (BadDuration, InvalidEntry) as error:
        return {"$error": f"Error: {error}"}
