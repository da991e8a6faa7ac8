"""Which tools' results may be pruned: the allow and deny lists (spec pruning 12.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sessions_app.tokens import javascript as js

Matcher = Callable[[str], bool]


def prunable_tools(tools: Any) -> Callable[[object], bool]:
    """Whether a tool of a name may be pruned. Deny goes first; an empty allow list allows all."""
    lists = tools if isinstance(tools, Mapping) else {}
    deny, allow = _matchers(lists.get("deny")), _matchers(lists.get("allow"))

    def is_prunable(name: object) -> bool:
        wanted = js.norm(name)
        if any(matches(wanted) for matches in deny):
            return False
        return not allow or any(matches(wanted) for matches in allow)

    return is_prunable


def _matchers(patterns: Any) -> list[Matcher]:
    listed = patterns if isinstance(patterns, list) else ()
    return [_matcher(pattern) for pattern in map(js.norm, listed) if pattern]


def _matcher(pattern: str) -> Matcher:
    if pattern == "*":
        return lambda _name: True
    if "*" not in pattern:
        return lambda name: name == pattern
    body = f"{js.ANY_CLASS}*".join(map(re.escape, pattern.split("*")))
    glob = re.compile(rf"{body}\Z")
    return lambda name: glob.match(name) is not None
