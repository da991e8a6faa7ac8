"""How long is "1h30m"? Durations as the configuration writes them (spec pruning 12.3, profiles 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js

UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EXAMPLES: Final = "Use values like 500ms, 30s, 5m, 2h, or 1h30m."

_ONE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?\Z")
_PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")


class BadDuration(ValueError):
    """The text is no duration; the message is the runtime's."""


@dataclass(frozen=True, slots=True)
class DurationRules:
    """``explains``: errors name what was wrong and show examples, and a result beyond the exact
    integers is one of them."""

    explains: bool


DURATION_2026_3: Final = DurationRules(explains=False)
DURATION_2026_4_20: Final = DURATION_2026_3
DURATION_2026_5_28: Final = DurationRules(explains=True)


def parse_duration_ms(raw: Any, rules: DurationRules, default_unit: str = "ms") -> float:
    """Milliseconds of one number with an optional unit, or of a gap-free sequence of both.

    Raises:
        BadDuration: for anything else.
    """
    text = js.norm(raw)
    if not text:
        raise _error(raw, rules, "empty")
    one = _ONE.match(text)
    total = _value(one, default_unit) if one else 0.0
    end = len(text) if one else 0
    for piece in () if one else _PIECE.finditer(text):
        if piece.start() != end:
            raise _error(raw, rules, "each composite segment needs a unit")
        total += _value(piece, default_unit)
        end = piece.end()
    whole = js.round_half_up(total)
    too_large = rules.explains and abs(whole) > js.MAX_SAFE_INTEGER
    if end != len(text) or not js.is_finite(whole) or too_large:
        raise _error(raw, rules, None)
    return whole


def _value(match: re.Match[str], default_unit: str) -> float:
    return float(match[1]) * UNIT_MS[match[2] or default_unit]


def _error(raw: Any, rules: DurationRules, hint: str | None) -> BadDuration:
    given = raw if isinstance(raw, str) else ""
    if not rules.explains:
        return BadDuration(
            "invalid duration (empty)" if hint == "empty" else f"invalid duration: {given}"
        )
    shown = "empty value" if hint == "empty" else f'"{given}"'
    lead = f"Invalid duration ({hint})" if hint else "Invalid duration"
    return BadDuration(f"{lead}: {shown}. {_EXAMPLES}")
