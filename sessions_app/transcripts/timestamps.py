"""What moment a recorded timestamp names.

Recorders write ISO 8601; a few wrote milliseconds. A date without a time is UTC, a time without a zone
is read as UTC too, because a recording must not read differently on another machine.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from sessions_app.tokens import javascript as js

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST_MS: Final = 8_640_000_000_000_000
"""The furthest moment a JavaScript date can hold, either side of 1970."""

_ISO = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?\Z",
    re.ASCII,
)


_USUAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z", re.ASCII)
_MILLISECOND: Final = timedelta(milliseconds=1)


def epoch_ms(value: object) -> int | None:
    """Milliseconds since 1970 of an ISO text or a number of milliseconds; None when unreadable."""
    if js.is_number(value):
        return math.trunc(value) if math.isfinite(value) and abs(value) <= LARGEST_MS else None
    return _iso_ms(js.trim(value)) if isinstance(value, str) else None


def iso_text(moment_ms: float) -> str:
    """The ISO text that the runtime writes for milliseconds since 1970: UTC, to the millisecond."""
    moment = EPOCH + timedelta(milliseconds=math.floor(moment_ms))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _iso_ms(text: str) -> int | None:
    if _USUAL.match(text):  # what the runtime writes, and Python reads ten times as fast
        try:
            return (datetime.fromisoformat(text) - EPOCH) // _MILLISECOND
        except ValueError:
            pass
    match = _ISO.match(text)
    if match is None:
        return None
    part = match.groupdict()
    hour = int(part["hour"] or 0)
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            0 if hour == 24 else hour,
            int(part["minute"] or 0),
            int(part["second"] or 0),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    if hour == 24:
        if moment.minute or moment.second or int(part["fraction"] or 0):
            return None
        hour_shift = 86_400_000
    else:
        hour_shift = 0
    whole = (moment - EPOCH) // timedelta(milliseconds=1)
    milliseconds = int((part["fraction"] or "").ljust(3, "0")[:3])
    return whole + hour_shift + milliseconds - _offset_ms(part["zone"])


def _offset_ms(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (-minutes if zone[0] == "-" else minutes) * 60_000
