"""The seam between stored text and everybody who sees it.

Every page, API answer and export passes the texts of a transcript through ``mask``. Rules that hide
something are registered here (``hidden_secrets``): they look at the text itself, so that what is shown
is right before anything was searched, and at what was found in the session that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Rule = Callable[[str], str]

_rules: list[Rule] = []
_beginnings: list[Rule] = []
_is_open: ContextVar[bool] = ContextVar("is_open", default=False)


def register(rule: Rule) -> Rule:
    """Add a rule; rules run in the order in which they were added."""
    _rules.append(rule)
    return rule


def register_for_beginnings(rule: Rule) -> Rule:
    """Add a rule for texts that may end in the middle of what is hidden; these run first."""
    _beginnings.append(rule)
    return rule


def unregister(rule: Rule) -> None:
    _rules.remove(rule)


@contextmanager
def revealed() -> Iterator[None]:
    """Within it nothing is hidden. For those who have asked for it, may see it, and are logged."""
    token = _is_open.set(True)
    try:
        yield
    finally:
        _is_open.reset(token)


def is_revealed() -> bool:
    """Whether nothing is hidden now."""
    return _is_open.get()


def mask(text: str) -> str:
    """``text`` as a viewer may see it."""
    if _is_open.get():
        return text
    for rule in _rules:
        text = rule(text)
    return text


def mask_beginning(text: str) -> str:
    """The same of a text that was cut: what its end may hold the beginning of is hidden too."""
    if _is_open.get():
        return text
    for rule in _beginnings:
        text = rule(text)
    return mask(text)


def mask_all(value: Any) -> Any:
    """A JSON value with each of its texts masked, and the names in its objects where they hold one.

    A name says what its value is, so that the pair is masked as it would stand in JSON.
    """
    return _all(value, "")


def _all(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return _field(name, value)
    if isinstance(value, list):
        return [_all(item, name) for item in value]
    if isinstance(value, dict):
        return {mask(key): _all(item, key) for key, item in value.items()}
    return value


_fields: list[Callable[[str, str], str]] = []


def register_for_fields(rule: Callable[[str, str], str]) -> None:
    """Add a rule that is told the name of the field that a text stands in."""
    _fields.append(rule)


def _field(name: str, text: str) -> str:
    if not _is_open.get():
        for rule in _fields:
            text = rule(name, text)
    return mask(text)
