"""The address of a comparison: ``1.rules=...&2.contextWindow=...``, one number for each policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode

MOST_POLICIES: Final = 4
_NUMBERS: Final = frozenset(str(number) for number in range(1, MOST_POLICIES + 1))


def split_query(values: Mapping[str, str]) -> list[dict[str, str]]:
    """``1.rules=...&2.contextWindow=...`` as one mapping for each policy, without empty values."""
    found: dict[int, dict[str, str]] = {}
    for name, value in values.items():
        number, dot, key = name.partition(".")
        if dot and number in _NUMBERS:
            found.setdefault(int(number), {})[key] = value
    return [
        {key: value for key, value in found[number].items() if value != ""}
        for number in sorted(found)
    ]


def joined_query(policies: Iterable[Mapping[str, str]]) -> str:
    """The address of a comparison of these policies."""
    pairs = [
        (f"{number}.{key}", value)
        for number, policy in enumerate(policies, 1)
        for key, value in (policy or {"rules": ""}).items()
    ]
    return urlencode(pairs)


def comparison_query(what_if: str) -> str:
    """The session's own policy beside that of a what-if's query; alone where both are the same."""
    policy = dict(parse_qsl(what_if))
    return joined_query([{}, policy] if policy else [{}])
