"""A number with its noun."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 call``, ``2,000 calls``; ``many`` where the plural is not made by an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
