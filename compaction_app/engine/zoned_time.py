"""What day and time is it where the user lives?

Moments are milliseconds since 1970; the zone and the host's zone are handed in, so that nothing
depends on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from sessions_app.tokens import javascript as js

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UTC_ZONE: Final = "UTC"

WEEKDAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def is_zone(name: str) -> bool:
    """Whether ``name`` is a time zone of the IANA database."""
    return _zone(name) is not None


def user_zone(configured: object, host_zone: str = UTC_ZONE) -> str:
    """The zone to date things in: the configured one, else the host's, else UTC."""
    name = js.trim(configured) if isinstance(configured, str) else ""
    if name and is_zone(name):
        return name
    return host_zone if is_zone(host_zone) else UTC_ZONE


def date_stamp(epoch_ms: int | float, zone: str) -> str:
    """The calendar date of a moment in a zone, as `YYYY-MM-DD`; in UTC for an unknown zone."""
    return f"{_local(epoch_ms, zone):%Y-%m-%d}".rjust(10, "0")


def utc_minute(epoch_ms: int | float) -> str:
    """A moment as `YYYY-MM-DD HH:MM UTC`."""
    moment = _local(epoch_ms, UTC_ZONE)
    return f"{date_stamp(epoch_ms, UTC_ZONE)} {moment:%H:%M} UTC"


def spoken_time(epoch_ms: int | float, zone: str, *, twelve_hours: bool) -> str:
    """A moment as a person writes it: `Monday, December 1st, 2025 - 08:00`."""
    moment = _local(epoch_ms, zone)
    if twelve_hours:
        clock = f"{moment.hour % 12 or 12}:{moment:%M} {'AM' if moment.hour < 12 else 'PM'}"
    else:
        clock = f"{moment:%H:%M}"
    day = f"{moment.day}{ordinal_suffix(moment.day)}"
    weekday, month = WEEKDAYS[moment.weekday()], MONTHS[moment.month - 1]
    return f"{weekday}, {month} {day}, {moment.year} - {clock}"


def ordinal_suffix(day: int) -> str:
    """`st`, `nd`, `rd` or `th` for a day of the month."""
    if 11 <= day <= 13:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _local(epoch_ms: int | float, zone: str) -> datetime:
    moment = EPOCH + timedelta(milliseconds=int(epoch_ms))
    return moment.astimezone(_zone(zone) or UTC)


def _zone(name: str) -> ZoneInfo | None:
    """The zone of a name, whose case does not matter."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        proper = _proper_names().get(js.ascii_lower(name))
        return ZoneInfo(proper) if proper and proper != name else None


@lru_cache(maxsize=1)
def _proper_names() -> Mapping[str, str]:
    return {name.lower(): name for name in available_timezones()}
