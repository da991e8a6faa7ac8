"""What an anchor is: something said or done that should outlive the part of the context it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

RULES_VERSION: Final = 2
"""Counts up whenever other anchors are found, or found again elsewhere, than before."""

AnchorKind = Literal[
    "constraint", "file_action", "decision", "promise", "ask", "error",
    "path", "uuid", "hash", "url", "host_port", "version", "ticket", "quantity",
]  # fmt: skip
Voice = Literal["user", "agent", "tool"]

TITLES: Final[Mapping[AnchorKind, str]] = {
    "constraint": "constraints of the user",
    "file_action": "file actions",
    "decision": "decisions",
    "promise": "open tasks and promises",
    "ask": "last asks of the user",
    "error": "errors met",
    "path": "paths",
    "uuid": "UUIDs",
    "hash": "hashes",
    "url": "URLs",
    "host_port": "hosts with port",
    "version": "versions",
    "ticket": "tickets",
    "quantity": "quantities with unit",
}
"""Every kind with its title, what hurts most when it is lost first."""

KINDS: Final[tuple[AnchorKind, ...]] = tuple(TITLES)
IDENTIFIERS: Final = frozenset(KINDS[KINDS.index("path") :])
SENTENCES: Final = frozenset({"constraint", "decision", "promise", "ask", "error"})
"""Kinds that are known by their words; the others by their form."""


class Anchor(NamedTuple):
    """One occurrence; a tuple, because a long session has a hundred thousand of them. ``key`` is by what two of a kind count as the same, ``text`` how it stands there.

    It stands in the content block ``block`` of the entry ``entry`` (0 in a message that is one text),
    from character ``start`` to ``end``; of a tool call the characters of its arguments as JSON count.
    ``detail`` is the reason of a decision, what was done to a file, or what became of an error.
    """

    kind: AnchorKind
    key: str
    text: str
    entry: int
    block: int
    start: int
    end: int
    voice: Voice
    detail: str = ""
