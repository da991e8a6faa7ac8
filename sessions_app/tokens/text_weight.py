"""How heavy is a text whose characters cost unequally many tokens? (spec profiles 5.3)

Since 2026.9 budgets in characters are budgets of weight: a character of a CJK script counts as many
units as its tokens are worth at four units a token, a common ideogram 4, a rare one 12, one beyond the
basic plane 16. A ``unit_weight`` of 2 counts every unit at least twice, for tool results.
"""

from __future__ import annotations

import math
import re
from typing import Final

from sessions_app.tokens import javascript as js

RESULT_UNIT_WEIGHT: Final = 2
"""What a unit of a tool result weighs at least where results count two units a token."""

MOST_WEIGHT: Final = 12
"""What a unit of a text weighs at most."""

_BELOW_CLASSES = re.compile("[\0-\u00b6]*")
_CLASSES: Final = tuple(
    (re.compile(f"[{members}]"), weight, units)
    for members, weight, units in (
        ("\u00b7\u3000-\u319f\u4e00-\u9fa5\uac00-\ud7af\uff01-\uff60", 4, 1),
        (
            "\u1100-\u11ff\u2e80-\u2fff\u31a0-\u4dff\u9fa6-\u9fff\ua000-\ua4ff\ua700-\ua707"
            "\ua960-\ua97f\ud7b0-\ud7ff\uf900-\ufaff",
            12,
            1,
        ),
        (
            "\u02c7\u02c9-\u02cb\u02d9\u02ea-\u02eb\u0305\u0323\ufe10-\ufe4f\uff61-\uffdc"
            "\uffe0-\uffe6",
            8,
            1,
        ),
        ("\U0001d360-\U0001d371", 12, 2),
        (
            "\U00016fe0-\U00016fff\U0001aff0-\U0001afff\U0001b000-\U0001b16f"
            "\U0001f200-\U0001f2ff\U00020000-\U0002fa1f\U00030000-\U0003347f",
            16,
            2,
        ),
    )
)
"""Pattern of one character of the class, its weight, and the UTF-16 units it takes."""
_RUNS = re.compile("[\0-\x7f]+|[^\0-\x7f]")


def text_weight(text: str, unit_weight: float = 1) -> int:
    """The weight of ``text``: of each unit at least ``unit_weight``, of a classed character its own."""
    if unit_weight not in (1, 2):
        return sum(_run_weight(run, unit_weight) for run in _RUNS.findall(text))
    least = int(unit_weight)
    if text.isascii() or _BELOW_CLASSES.fullmatch(text):  # most texts: one unit, in no class
        return len(text) * least
    weight = js.utf16_len(text) * least
    for members, each, units in _CLASSES:
        weight += (each - units * least) * len(members.findall(text))
    return weight


def _run_weight(run: str, unit_weight: float) -> int:
    if run.isascii():
        return math.ceil(len(run) * unit_weight)
    return max(text_weight(run), math.ceil(js.utf16_len(run) * unit_weight))


def head_within(text: str, limit: float, unit_weight: float = 1) -> str:
    """The longest head that weighs at most ``limit``, never half a surrogate pair."""
    return _within(text, limit, unit_weight, at_end=False)


def tail_within(text: str, limit: float, unit_weight: float = 1) -> str:
    """The longest tail that weighs at most ``limit``, never half a surrogate pair."""
    return _within(text, limit, unit_weight, at_end=True)


def _within(text: str, limit: float, unit_weight: float, *, at_end: bool) -> str:
    """By halving the number of units, as the runtime does: heavier must be longer for it."""
    length = js.utf16_len(text)
    if length <= limit and text_weight(text, unit_weight) <= limit:
        return text
    if limit != limit:
        return ""
    best, low, high = "", 0, js.position(min(length, js.floor(limit)))
    while low <= high:
        middle = (low + high) // 2
        part = _units(text, length, middle, at_end=at_end)
        if text_weight(part, unit_weight) <= limit:
            best, low = part, middle + 1
        else:
            high = middle - 1
    return best


def _units(text: str, length: int, count: int, *, at_end: bool) -> str:
    """The first or last ``count`` units, one less where they would cut a pair."""
    part = js.utf16_slice(text, length - count) if at_end else js.utf16_slice(text, 0, count)
    if at_end:
        cut = "\udc00" <= part[:1] <= "\udfff" and _joins(text, length - count)
        return part[1:] if cut else part
    cut = "\ud800" <= part[-1:] <= "\udbff" and _joins(text, count)
    return part[:-1] if cut else part


def _joins(text: str, position: int) -> bool:
    """Whether the units on both sides of ``position`` are the halves of one character."""
    around = js.utf16_slice(text, position - 1, position + 1) if position > 0 else ""
    return len(around) == 1 and ord(around) > 0xFFFF
