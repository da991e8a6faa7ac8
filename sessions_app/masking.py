"""The seam between stored text and everybody who sees it.

Every page, API answer and export passes the texts of a transcript through ``mask``. Rules that hide
secrets are registered here; there are none yet, so texts pass unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

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
