"""The configuration file (spec budgets 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.config.byte_size import parse_byte_size
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]

FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "config.byteSize": lambda a, r: parse_byte_size(a["value"]),
}
