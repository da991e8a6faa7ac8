"""How numbers and stored texts are written on pages."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template

from sessions_app import plurals
from sessions_app.drawing.scale import short
from sessions_app.masking import mask, mask_beginning
from sessions_app.transcripts.columns import UNKNOWN

register = template.Library()

UNKNOWN_TEXT = "unknown"


@register.filter
def grouped(value: object) -> str:
    """1234567 as 1,234,567; what is not known is said to be unknown, never 0."""
    if value is None or value == UNKNOWN or value == "":
        return UNKNOWN_TEXT
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)


@register.filter
def brief(value: object) -> str:
    """1234567 as 1.235M."""
    if value is None or value == UNKNOWN:
        return UNKNOWN_TEXT
    return short(value) if isinstance(value, int | float) else str(value)


@register.filter
def percent(value: object) -> str:
    """0.925 as 92.5 %."""
    return f"{value * 100:.1f} %" if isinstance(value, int | float) else UNKNOWN_TEXT


@register.filter
def duration(value: object) -> str:
    """Seconds as 0.4 s, 75 s, 12 min 5 s or 3 h 2 min."""
    if not isinstance(value, int | float) or value < 0:
        return UNKNOWN_TEXT
    if value < 10:
        return f"{value:.1f} s"
    seconds = round(value)
    if seconds < 120:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@register.filter
def masked(value: object) -> str:
    """A text of a transcript as the viewer may see it; escaping stays with the template."""
    return mask(str(value))


@register.filter
def masked_beginning(value: object) -> str:
    """The same of a text that was cut, perhaps in the middle of what is hidden."""
    return mask_beginning(str(value))


@register.filter
def moment(value: object) -> str:
    """Epoch milliseconds as a date and time in UTC."""
    if not isinstance(value, int) or value == UNKNOWN:
        return UNKNOWN_TEXT
    try:
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OSError, OverflowError):
        return UNKNOWN_TEXT


@register.filter
def counted(number: int, nouns: str) -> str:
    """A number with its noun: ``"call"``, or ``"entry,entries"``."""
    one, _, many = nouns.partition(",")
    return plurals.counted(number, one, many)
