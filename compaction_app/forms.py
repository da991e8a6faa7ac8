"""The address of a what-if: policy, circumstances, range. Read from a query, written as a short one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.policy import BY_KEY, Policy, PolicyError, with_changes
from compaction_app.engine.policy_config import MODE
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.pruning.experimental import ID_SUFFIX, with_constants
from compaction_app.engine.pruning.experimental_settings import changed_constants, read_constants
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.session_policy import under_rules
from compaction_app.engine.summary_sizes import AS_KNOWN, SummaryChoice
from compaction_app.runs import Situation
from compaction_app.summary_choice import choice_values, read_choice

MAX_VALUE_CHARS = 2_000
SHOWN_RULES = "was"
"""The rule set that a form showed when it was sent: a mode that nobody chose changes with the version."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a page was asked to show. ``problems`` has a message for each value that was refused."""

    policy: Policy
    around: Circumstances
    span: tuple[int, int] | None
    leaf: int | None
    problems: Mapping[str, str]
    all_events: bool = False
    summary: SummaryChoice = AS_KNOWN


def read_query(values: Mapping[str, str], situation: Situation) -> Query:
    """The session's own policy and circumstances, with what the query changes.

    A refused value leaves the setting as it was and is told; unknown names are ignored, since
    addresses get other names on their way.
    """
    rules = RULE_SETS.get(values.get("rules", ""), situation.around.rules)
    base = under_rules(situation.policy, situation.around, rules)
    chosen = next((p for p in PRESETS if p.name == values.get("preset")), None)
    if chosen is not None:
        window = base.context_window
        base = with_changes(replace(Policy(), context_window=window), chosen.changes)
    given = {
        key: value
        for key, value in values.items()
        if key in BY_KEY and len(value) <= MAX_VALUE_CHARS
    }
    shown = RULE_SETS.get(values.get(SHOWN_RULES, ""), rules)
    if given.get(MODE) == shown.materialize.snapshot_mode:
        given[MODE] = under_rules(
            replace(base, compaction_mode=given[MODE]),
            replace(situation.around, rules=shown),
            rules,
        ).compaction_mode
    problems: dict[str, str] = {}
    try:
        policy = with_changes(base, given)
    except PolicyError as error:
        problems.update(error.problems)
        policy = with_changes(base, {k: v for k, v in given.items() if k not in error.problems})
    around = situation.around
    if values.get("path") in PATHS:
        around = replace(around, path=next(p for p in PATHS if p == values["path"]))
    elif values.get("path"):
        known = ", ".join(PATHS)
        problems["path"] = f"path: there is no {values['path'][:50]!r}; known: {known}."
    if values.get("rules") and values["rules"] not in RULE_SETS:
        known = ", ".join(RULE_SETS)
        problems["rules"] = f"rules: there is no {values['rules'][:50]!r}; known: {known}."
    constants, refused = read_constants(values, rules)
    problems.update(refused)
    around = replace(around, rules=with_constants(rules, constants), constants=constants)
    if "provider" in values:
        around = replace(around, provider=values["provider"].strip()[:100])
    summary = read_choice(values, problems)
    start, end = _number(values, "from"), _number(values, "to")
    return Query(
        policy=policy,
        around=around,
        span=(start, end) if start is not None and end is not None else None,
        leaf=_leaf(values, situation),
        all_events=values.get("events") == "all",
        summary=summary,
        problems=problems,
    )


def query_of(query: Query, situation: Situation, **changes: Any) -> str:
    """The shortest query that reads as ``query``: only what differs from the session's own."""
    values: dict[str, Any] = {}
    if query.around.path != situation.around.path:
        values["path"] = query.around.path
    if base_rules(query.around) != situation.around.rules.id:
        values["rules"] = base_rules(query.around)
    if query.around.provider != situation.around.provider:
        values["provider"] = query.around.provider
    own = under_rules(situation.policy, situation.around, query.around.rules)
    for key, value in query.policy.changes(own).items():
        values[key] = policy_text(value)
    for constant, number in changed_constants(query.around.constants):
        values[constant.key] = f"{number:g}"
    values |= choice_values(query.summary)
    if query.span is not None:
        values["from"], values["to"] = query.span
    if query.leaf is not None:
        values["leaf"] = query.leaf
    for key, value in changes.items():
        name = key.rstrip("_")
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    return urlencode(values)


def base_rules(around: Circumstances) -> str:
    """The rule set of a version that the rules in force are made from."""
    return around.rules.id.removesuffix(ID_SUFFIX)


def policy_text(value: Any) -> str:
    """A setting's value as an address or a form spells it; "" unsets it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, tuple | list) else str(value)


def _leaf(values: Mapping[str, str], situation: Situation) -> int | None:
    """The entry that ends the branch to show; none for one that the transcript does not hold."""
    leaf = _number(values, "leaf")
    return leaf if leaf is not None and leaf < situation.window.entry_count else None


def _number(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
