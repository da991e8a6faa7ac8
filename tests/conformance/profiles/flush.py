"""Memory flush settings and gate of the early versions (spec profiles 3)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.budgets import flush, protocol

Args = dict[str, Any]


def settings(args: Args, rules: RuleSet) -> Any:
    return protocol.encode(flush.settings(protocol.expand(args), rules))


def should_run(args: Args, rules: RuleSet) -> Any:
    both = flush.gate(protocol.expand(args), rules)
    return {key: both[key] for key in ("flush", "alreadyFlushed")}


FUNCTIONS = {"memoryFlushSettings": settings, "shouldRunMemoryFlush": should_run}
