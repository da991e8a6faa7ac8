"""The seam between stored text and everybody who sees it.

Every page, API answer and export passes the texts of a transcript through ``mask``. Rules that hide
secrets are registered here; there are none yet, so texts pass unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[[str], str]

_rules: list[Rule] = []


def register(rule: Rule) -> Rule:
    """Add a rule; rules run in the order in which they were added."""
    _rules.append(rule)
    return rule


def unregister(rule: Rule) -> None:
    _rules.remove(rule)


def mask(text: str) -> str:
    """``text`` as a viewer may see it."""
    for rule in _rules:
        text = rule(text)
    return text


def mask_all(value: Any) -> Any:
    """A JSON value with each of its texts masked; the names in objects are kept."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [mask_all(item) for item in value]
    if isinstance(value, dict):
        return {name: mask_all(item) for name, item in value.items()}
    return value
