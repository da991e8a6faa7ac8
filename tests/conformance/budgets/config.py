"""The configuration file (spec budgets 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.config.byte_size import parse_byte_size
from compaction_app.engine.config.materialize import materialize
from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.config.validate import validate_config
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]


def parse(args: Args, rules: RuleSet) -> Any:
    try:
        return {"ok": True, "parsed": parse_config(args["raw"])}
    except ConfigSyntaxError:
        return {"ok": False}


def validate(args: Args, rules: RuleSet) -> Any:
    issues = validate_config(args["config"], rules.config)
    if not issues:
        return {"ok": True}
    encoded = [{"path": issue.path, "message": issue.message} for issue in issues]
    return {"ok": False, "issues": encoded}


def load(args: Args, rules: RuleSet) -> Any:
    if validate_config(args["config"], rules.config):
        return {"ok": False}
    filled = materialize(args["config"], rules.materialize, args.get("mode", "load"))
    return {"ok": True, "defaults": filled["agents"]["defaults"], "models": filled.get("models")}


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "config.byteSize": lambda a, r: parse_byte_size(a["value"]),
    "config.materialize": load,
    "config.parse": parse,
    "config.validate": validate,
}
