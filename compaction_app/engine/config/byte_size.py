"""How many bytes does a setting like "20mb" mean? (spec budgets 8.3)"""

from __future__ import annotations

import math
import re
from typing import Final

from sessions_app.tokens import javascript as js

UNITS: Final = {
    unit: 1024**power
    for power, units in enumerate((("b", ""), ("k", "kb"), ("m", "mb"), ("g", "gb"), ("t", "tb")))
    for unit in units
}

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-z]*)\Z", re.ASCII)


def parse_byte_size(value: object) -> int | None:
    """Bytes, or None for what is no size.

    A finite number counts floored when it is not negative. A text is digits, maybe with a fraction, and
    maybe a unit without a space before it: powers of 1024, rounded to whole bytes.
    """
    if js.is_finite(value):
        return math.floor(value) if value >= 0 else None
    match = _SIZE.match(js.trim(value).lower()) if isinstance(value, str) else None
    if match is None or match[2] not in UNITS:
        return None
    size = js.round_half_up(float(match[1]) * UNITS[match[2]])
    return int(size) if math.isfinite(size) else None
