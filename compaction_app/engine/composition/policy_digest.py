"""Which lines of a shortened AGENTS.md must still be read (spec compaction 5.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.tokens import javascript as js

MAX_LINE_CHARS = 240
ELLIPSIS = "…"

_SPACES = re.compile(f"{js.SPACE_CLASS}+")
_LISTED = re.compile(rf"(?:#{{1,6}}|[-*+]|[0-9]+[.)]){js.SPACE_CLASS}+")
_URGENT_WORDS = (
    r"AGENTS\.md|scoped|required|must|never|do not|before subtree|read scoped|security|secret"
    r"|credential"
)
_URGENT = re.compile(rf"\b(?:{_URGENT_WORDS})\b", re.IGNORECASE | re.ASCII)
_TELLING = re.compile(
    rf"\b(?:{_URGENT_WORDS}|owner|test|validation|command|commit|push|github|pr)\b",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class PolicyDigest:
    """The lines kept, in the order of the file, and how many others there were no room for."""

    text: str
    omitted_lines: int


def policy_digest(content: str, budget: float, *, lead_ins: bool = False) -> PolicyDigest:
    """Headings, list items and lines with telling words, within ``budget`` characters.

    Lines with urgent words come first; a line too long for what is left is passed over. With
    ``lead_ins`` the line right before a list item counts as that item does.
    """
    if budget <= 0:
        return PolicyDigest("", 0)
    every = list(map(_line, content.split("\n")))
    led = [
        lead_ins and i + 1 < len(every) and _leads(every[i], every[i + 1])
        for i in range(len(every))
    ]
    taken = [i for i, line in enumerate(every) if _is_candidate(line) or led[i]]
    lines = [every[i] for i in taken]
    urgent = [_URGENT.search(every[i]) or (led[i] and _URGENT.search(every[i + 1])) for i in taken]
    order = sorted(range(len(lines)), key=lambda i: not urgent[i])
    picked = _fitting(lines, order, budget)
    text = "\n".join(lines[i] for i in sorted(picked))
    return PolicyDigest(text, len(lines) - len(picked))


def _fitting(lines: Sequence[str], order: Sequence[int], budget: float) -> list[int]:
    picked: list[int] = []
    used = 0
    for i in order:
        needed = js.utf16_len(lines[i]) + (1 if picked else 0)
        if used + needed <= budget:
            picked.append(i)
            used += needed
    return picked


def _line(raw: str) -> str:
    line = _SPACES.sub(" ", js.trim(raw))
    if js.utf16_len(line) <= MAX_LINE_CHARS:
        return line
    return js.utf16_slice(line, 0, MAX_LINE_CHARS - 1) + ELLIPSIS


def _leads(line: str, following: str) -> bool:
    return bool(line) and not _LISTED.match(line) and bool(_LISTED.match(following))


def _is_candidate(line: str) -> bool:
    return bool(_LISTED.match(line) or _TELLING.search(line))
